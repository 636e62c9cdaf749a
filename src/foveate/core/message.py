"""The user's message: the context, its end, and the question; and back.

The one place that puts context and question together, and the one that takes them apart.

Rules: the end is structure. No text of a context can spell it (see `SQUARE` in
`foveate.core.text.special_tokens`), so the first one in a message is the context's, whatever the
question says. It is counted with the message, and is no part of the context's own text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

END = "[End of context]"
CLOSING = f"\n\n{END}"
"""What ends a context that is a text."""
_PART = {"type": "text", "text": END}
_CLOSING_PART = "," + json.dumps(_PART, separators=(",", ":")) + "]"


def close_context(text: str, *, parts: bool = False) -> str:
    r"""The context's text with its end; `parts`: the text is a JSON list of content parts.

    >>> close_context("[1] Source: mill.md")
    '[1] Source: mill.md\n\n[End of context]'
    """
    return text.removesuffix("]") + _CLOSING_PART if parts else text + CLOSING


def join_message(text: str, query: str) -> str:
    r"""The message: context, end, question; the question alone where there is no context.

    A question that spells the end itself is never alone.

    >>> join_message("[1] Source: mill.md", "How old?")
    '[1] Source: mill.md\n\n[End of context]\n\nHow old?'
    """
    if text:
        return f"{close_context(text)}\n\n{query}"
    return f"{END}\n\n{query}" if END in query else query


def join_parts(parts: Sequence[Mapping[str, Any]], query: str) -> list[dict[str, Any]]:
    """The same for a context of content parts."""
    return [*map(dict, parts), dict(_PART), {"type": "text", "text": query}]


def split_message(message: str) -> tuple[str, str]:
    r"""Context and question of a message as `join_message` makes it.

    >>> split_message("[1] Source: mill.md\n\n[End of context]\n\nHow old?")
    ('[1] Source: mill.md', 'How old?')
    """
    if message.startswith(f"{END}\n\n"):
        return "", message.removeprefix(f"{END}\n\n")
    text, end, query = message.partition(f"{CLOSING}\n\n")
    return (text, query) if end else ("", message)


def split_parts(parts: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], str]:
    """Content parts and question of a message as `join_parts` makes it."""
    *found, asked = parts
    if found and found[-1] == _PART:
        found.pop()
    return found, asked["text"]
