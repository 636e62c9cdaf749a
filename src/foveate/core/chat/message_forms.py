"""Messages of whichever provider's form → turns, and what they weigh beside a context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from foveate.core.chat.anthropic import turns_from_anthropic
from foveate.core.chat.openai import turns_from_openai
from foveate.core.chat.turns import Turn, messages_from_turn, role_and_text
from foveate.core.errors import BadInput


def turns_from_messages(turns: Iterable[Turn | Mapping[str, Any]]) -> tuple[Turn, ...]:
    """Turns, or the messages of either form; raises `BadInput` naming the one that is wrong."""
    known = list(turns)
    if all(isinstance(turn, Turn) for turn in known):
        return tuple(cast("list[Turn]", known))
    if any(isinstance(turn, Turn) for turn in known):
        raise BadInput("are turns and messages mixed; give all in one form", field="turns")
    messages = cast("Sequence[Mapping[str, Any]]", known)
    if any(_has_blocks(message) for message in messages):
        return turns_from_anthropic(messages)
    return turns_from_openai(messages)


def _has_blocks(message: Any) -> bool:
    """Whether a message has blocks that only Anthropic's form has."""
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list):
        return False
    own = ("tool_use", "tool_result", "thinking", "redacted_thinking")
    return any(isinstance(part, Mapping) and part.get("type") in own for part in content)


def role_and_text_pairs(messages: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Messages as they are counted, (role, text): content parts, calls and results too.

    Raises `BadInput` naming the message that is wrong, a call without its result among them.
    """
    said = [
        message
        for turn in turns_from_messages(messages)
        for message in messages_from_turn(turn, turn)
    ]
    return tuple(map(role_and_text, said))
