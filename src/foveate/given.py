"""What a caller hands in beside the candidates: the question, who asks, chat messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from foveate.core.errors import BadInput


def reader(principals: Iterable[str]) -> tuple[str, ...]:
    """Who asks; a single string is refused, for it would be read letter by letter."""
    if isinstance(principals, str):
        raise BadInput(f"must be a list of strings, not {principals!r}", field="principals")
    return tuple(principals)


def pairs(messages: Iterable[Mapping[str, str]]) -> tuple[tuple[str, str], ...]:
    """Chat messages as (role, content); raises `BadInput` naming the message."""
    found = []
    for number, message in enumerate(messages, 1):
        if not isinstance(message, Mapping) or not all(
            isinstance(message.get(name), str) for name in ("role", "content")
        ):
            raise BadInput(
                f"message {number} must have a role and a content, both strings", field="messages"
            )
        found.append((message["role"], message["content"]))
    return tuple(found)


def question(query: str) -> str:
    """Refuse an empty question before anything is asked of a store."""
    if not isinstance(query, str) or not query.strip():
        raise BadInput("the query is empty; ask something", field="query")
    return query
