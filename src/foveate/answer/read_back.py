"""A request's content parts → the blocks that were put in: what a log of requests can be read by.

Breakpoints, the question and parts of other kinds are passed over; everything else is as the format
reads its own text back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from foveate.answer.messages import MARKS
from foveate.core.contracts import Format, Parsed
from foveate.core.errors import BadInput
from foveate.core.formats.anthropic_document import AnthropicDocument
from foveate.core.formats.anthropic_search_result import AnthropicSearchResult
from foveate.core.formats.openai_parts import OpenAiParts
from foveate.core.render import Renderer

_FORM = "must be a list of parts, each an object"


def read_back(
    content: Sequence[Mapping[str, Any]], *, label: str = "Page context", spotlight: bool = False
) -> tuple[Parsed, ...]:
    """The blocks of a user's message as `messages` makes it, whose last part is the question.

    `label`, `spotlight`: as the recipe had them. Raises `BadInput` where the parts are no context
    of ours.

    >>> head = "[1] Source: mill.md"
    >>> sent = [{"type": "text", "text": head + chr(10) + "Built in 1880."}]
    >>> [block.text for block in read_back([*sent, {"type": "text", "text": "How old?"}])]
    ['Built in 1880.']
    """
    if isinstance(content, str | bytes) or not isinstance(content, Sequence):
        raise BadInput(_FORM, field="content")
    parts = [_unmarked(part) for part in content[:-1]]
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"))
    renderer = Renderer(format=_format_of(parts), label=label, spotlight=spotlight)
    if not parts:
        return ()
    try:
        return renderer.parse(text)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        raise BadInput("holds parts that no context has", field="content") from None


def _format_of(parts: Sequence[Mapping[str, Any]]) -> Format:
    kinds = [part.get("type") for part in parts]
    if "search_result" in kinds:
        return AnthropicSearchResult()
    return AnthropicDocument() if "document" in kinds else OpenAiParts()


def _unmarked(part: Mapping[str, Any]) -> dict[str, Any]:
    """The part without breakpoints, by the name that a context's text has for its kind."""
    if not isinstance(part, Mapping):
        raise BadInput(_FORM, field="content")
    found = {key: value for key, value in part.items() if key not in MARKS}
    return {**found, "type": "text"} if part.get("type") == "input_text" else found
