"""The providers' spellings of a message list, and which of them a list is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foveate.core.compact.anthropic_messages import ANTHROPIC
from foveate.core.compact.entries import Json, MessageForm
from foveate.core.compact.gemini import GEMINI
from foveate.core.compact.openai_chat import OPENAI_CHAT
from foveate.core.compact.openai_responses import OPENAI_RESPONSES
from foveate.core.errors import BadInput, UnknownName

FORMS: Mapping[str, MessageForm] = {
    form.name: form for form in (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI)
}
_ANTHROPIC_BLOCKS = frozenset(
    ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "compaction")
)
_ANTHROPIC_MEDIA = frozenset(("image", "document"))


def message_form(messages: Sequence[Json], name: str | None = None) -> MessageForm:
    """The form of that name, else the one that the list is in; a plain one is OpenAI Chat."""
    if name is not None:
        if name not in FORMS:
            raise UnknownName("message form", name, FORMS)
        return FORMS[name]
    for message in messages:
        if "parts" in message:
            return GEMINI
        if isinstance(message.get("type"), str):
            return OPENAI_RESPONSES
        if "tool_calls" in message or message.get("role") == "tool":
            return OPENAI_CHAT
        if any(map(_is_anthropic_block, _blocks(message.get("content")))):
            return ANTHROPIC
    return OPENAI_CHAT


def check_messages(messages: Any) -> list[Json]:
    """The messages as a list of mappings; raises `BadInput` naming the one that is none."""
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        kind = type(messages).__name__
        raise BadInput(f"must be a list of messages, not {kind}", field="messages")
    found = list(messages)
    for index, message in enumerate(found):
        if not isinstance(message, Mapping):
            kind = f"not {type(message).__name__}"
            if hasattr(message, "model_dump"):
                kind += "; give its model_dump(mode='json', exclude_none=True)"
            raise BadInput(f"message {index + 1} must be a mapping, {kind}", field="messages")
    return found


def _blocks(content: Any) -> Sequence[Any]:
    return content if isinstance(content, Sequence) and not isinstance(content, str) else ()


def _is_anthropic_block(block: Any) -> bool:
    if not isinstance(block, Mapping):
        return False
    kind = block.get("type")
    if not isinstance(kind, str):
        return False
    return kind in _ANTHROPIC_BLOCKS or (kind in _ANTHROPIC_MEDIA and "source" in block)
