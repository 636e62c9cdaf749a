"""A user's message → the blocks and the question that were put in: a log of requests can be read.

Breakpoints are passed over; everything else is as the format reads its own text back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from foveate import plugins
from foveate.answer.messages import CACHE_MARKER
from foveate.core.contracts import Format, ParsedBlock
from foveate.core.errors import BadInput
from foveate.core.formats.anthropic import AnthropicDocument, AnthropicSearchResult
from foveate.core.formats.openai_parts import OpenAiParts
from foveate.core.render import Renderer
from foveate.core.window import split_message, split_parts
from foveate.ports import Content

_FORM_ERROR = "must be a list of parts, each an object"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedMessage:
    """The context's text, its blocks and the question of a user's message."""

    context: str
    blocks: tuple[ParsedBlock, ...]
    question: str


def parse_message(
    content: Content,
    *,
    format: str | Format = "numbered",
    label: str = "Page context",
) -> ParsedMessage:
    """The content of a user's message as `messages` makes it, taken apart.

    `format`: as the context was rendered; content parts say it themselves. `label`: the recipe's
    `summary_label`. Raises `BadInput` if the content is no message of ours.

    >>> from foveate import assemble
    >>> from foveate.answer.messages import messages
    >>> context = assemble("How old?", [{"text": "Built in 1880.", "source": "mill.md"}], budget=99)
    >>> parsed = parse_message(messages(context)[-1]["content"])
    >>> [block.text for block in parsed.blocks], parsed.question
    (['Built in 1880.'], 'How old?')
    """
    if isinstance(content, str):
        text, question = split_message(content)
        known = plugins.make_format(format) if isinstance(format, str) else format
    else:
        if isinstance(content, bytes) or not isinstance(content, Sequence):
            raise BadInput(_FORM_ERROR, field="content")
        parts = [
            _remove_part_markers(part) for part in cast("Sequence[Mapping[str, Any]]", content)
        ]
        if not parts or not isinstance(parts[-1].get("text"), str):
            raise BadInput("must end with the question, a text part", field="content")
        found, question = split_parts(parts)
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":")) if found else ""
        known = _detect_format(found)
    renderer = Renderer(format=known, label=label)
    try:
        blocks = renderer.parse(text)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        raise BadInput("holds parts that no context has", field="content") from None
    return ParsedMessage(context=text, blocks=blocks, question=question)


def _detect_format(parts: Sequence[Mapping[str, Any]]) -> Format:
    kinds = [part.get("type") for part in parts]
    if "search_result" in kinds:
        return AnthropicSearchResult()
    return AnthropicDocument() if "document" in kinds else OpenAiParts()


def _remove_part_markers(part: Mapping[str, Any]) -> dict[str, Any]:
    """The part without breakpoints, by the name that a context's text has for its kind."""
    if not isinstance(part, Mapping):
        raise BadInput(_FORM_ERROR, field="content")
    found = {key: value for key, value in part.items() if key != CACHE_MARKER}
    return {**found, "type": "text"} if part.get("type") == "input_text" else found
