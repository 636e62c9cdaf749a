"""OpenAI message parts, one a block: `[i] Source: S, page P`, a line break, the text.

`json.loads(text)` is a user message's `content`. Page summaries and supplements are text parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared import parts
from foveate.core.formats.shared.guards import body_guard, field_guard, line_guard
from foveate.core.formats.shared.text_format import (
    fields,
    format_numbered_line,
    parse_numbered_line,
    parse_summary,
    row_fields,
    with_summary,
)
from foveate.core.images import Image
from foveate.core.text.escape import Guard
from foveate.core.text.markers import WRITTEN
from foveate.core.types import Block

_HEAD = re.compile(rf"\[({WRITTEN})\] Source: ([^\n]*)\n")
_BODY = body_guard(markers=True)
_LINE = line_guard(markers=True)
_FIELD = field_guard(markers=True, row=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAiParts(parts.PartsFormat):
    """Numbered sources as text parts."""

    name = "openai-parts"
    image_formula: ClassVar[str] = "tiles 512 2048 768 85 170"
    image_types: ClassVar[tuple[str, ...]] = ("image/png", "image/jpeg", "image/webp")
    body_guard: ClassVar[Guard] = _BODY
    line_guard: ClassVar[Guard] = _LINE
    reads: ClassVar[tuple[str, ...]] = ("source", "section", "page", "row")

    def header(self, block: Block, previous: Block | None) -> str:
        """The part up to its text, `[i] Source: S, page P` included."""
        return parts.TEXT_OPEN + parts.escape_json(
            format_numbered_line(block, _FIELD, page=True) + "\n"
        )

    def footer(self, block: Block, following: Block | None) -> str:
        """The end of the part, the images behind it, and the end of the list."""
        return parts.TEXT_CLOSE + self.write_images(block.images) + parts.list_end(following)

    def image_part(self, image: Image) -> dict[str, Any]:
        """An `image_url` part, whose address may be `blake3:` and the hash of the bytes."""
        return {"type": "image_url", "image_url": {"url": image.reference}}

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with marker, source, page and metadata."""
        found = []
        summary = None
        for part, start in parts.parse_parts(text, parts.TEXT_OPEN):
            head = _HEAD.match(part["text"])
            if head is None:
                aside = "\n" in part["text"]  # a supplement's title, and its text below it
                summary = None if aside else parse_summary(part["text"], _LINE)
                continue
            known = with_summary(parse_numbered_line(head[1], head[2], _FIELD), summary)
            body = _BODY.undo(part["text"][head.end() :])
            at = start + len(parts.escape_json(head[0]))
            found.append(ParsedBlock(text=body, fields=known, start=at))
            summary = None
        return tuple(found)

    def shown(self, block: Block) -> ParsedBlock:
        """The text, marker, source, page and metadata."""
        return ParsedBlock(
            text=block.text, fields=fields(block, "marker", "source", "page", *row_fields(block))
        )

    def label(self, block: Block) -> str:
        """`[i]`."""
        return f"[{block.marker}]"
