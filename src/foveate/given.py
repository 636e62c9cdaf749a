"""What a caller hands in beside the candidates: the question, who asks, chat messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.talk.forms import pairs_of


def reader(principals: Iterable[str]) -> tuple[str, ...]:
    """Who asks; a single string is refused, for it would be read letter by letter."""
    if isinstance(principals, str):
        raise BadInput(f"must be a list of strings, not {principals!r}", field="principals")
    return tuple(principals)


def pairs(messages: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, str], ...]:
    """Chat messages as (role, content); raises `BadInput` naming the message.

    Content parts that are texts, and calls of tools with their results, may come in the form of
    OpenAI or of Anthropic; they are counted as in a conversation.
    """
    found: list[tuple[str, str]] = []
    messages = list(messages)
    if any(map(_has_parts, messages)):
        return pairs_of(messages)
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Mapping) or not all(
            isinstance(message.get(name), str) for name in ("role", "content")
        ):
            raise BadInput(
                f"message {number} must have a role and a content, both strings", field="messages"
            )
        found.append((message["role"], message["content"]))
    return tuple(found)


def _has_parts(message: object) -> bool:
    """Whether it is more than a role and a text."""
    if not isinstance(message, Mapping):
        return False
    content = message.get("content")
    parts = isinstance(content, Sequence) and not isinstance(content, str)
    return parts or any(message.get(name) for name in ("tool_calls", "tool_call_id"))


def question(query: str) -> str:
    """Refuse an empty question before anything is asked of a store."""
    if not isinstance(query, str) or not query.strip():
        raise BadInput("the query is empty; ask something", field="query")
    return query
