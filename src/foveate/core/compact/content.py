"""What a message's content holds: a text, or a list of parts with texts, media and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from foveate.core.compact.images import MEDIA, inline_data, media_tokens
from foveate.core.errors import BadInput
from foveate.core.json_text import compact_json

TEXT_TYPES = ("text", "input_text", "output_text", "refusal")
BRIEF = 512
"""Characters of base64 that are counted as text; longer data is counted as media."""


class Content(NamedTuple):
    """The texts joined by lines, JSON of other parts, tokens of media, and kinds of what it is."""

    text: str
    others: tuple[str, ...] = ()
    extra: int = 0
    kinds: tuple[str, ...] = ()


def read_content(content: Any, index: int) -> Content:
    """The content of message `index`; raises `BadInput`."""
    if content is None or isinstance(content, str):
        return Content(check_encodable(content or "", index))
    parts = [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, Sequence) or isinstance(parts, bytes):
        raise refuse(index, "must have a content that is a text or a list of parts")
    found = [read_part(part, index) for part in parts]
    return Content(
        "\n".join(part.text for part in found if part.text),
        tuple(other for part in found for other in part.others),
        sum(part.extra for part in found),
        tuple(kind for part in found for kind in part.kinds),
    )


def read_part(part: Any, index: int) -> Content:
    """One part of a content."""
    if isinstance(part, str):
        return Content(check_encodable(part, index))
    if not isinstance(part, Mapping):
        raise refuse(index, "has a content part that is neither a text nor a mapping")
    kind = str(part.get("type", "part"))
    text = part.get("text", part.get("refusal"))
    if kind in TEXT_TYPES and isinstance(text, str):
        return Content(check_encodable(text, index))
    if kind in MEDIA or len(inline_data(part)) > BRIEF:
        return Content("", (), media_tokens(part), (kind,))
    return Content("", (compact_json(part),), 0, (kind,))


def text_with_content(content: Any, text: str) -> Any:
    """The content with this text in the place of what it says."""
    if content is None or isinstance(content, str):
        return text
    first = next((p for p in content if isinstance(p, Mapping) and p.get("type") in TEXT_TYPES), {})
    kind = first.get("type", "text")
    return [{"type": "text" if kind == "refusal" else kind, "text": text}]


def check_encodable(text: str, index: int) -> str:
    """The text; raises `BadInput` where it holds a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise refuse(index, "holds a lone surrogate; decode it with errors='replace'") from None
    return text


def refuse(index: int, what: str) -> BadInput:
    """The error for a message that cannot be used."""
    return BadInput(f"message {index + 1} {what}", field="messages")
