"""`[i] Source: S, page P`, the text, and a ruler between blocks.

`[i]` occurs in the context as a marker only: digits in brackets are neutralised in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared import aside
from foveate.core.formats.shared.guards import RULER, body_guard, field_guard, line_guard
from foveate.core.formats.shared.header import (
    fields,
    format_numbered_line,
    parse_numbered_line,
    with_summary,
)
from foveate.core.text.markers import WRITTEN
from foveate.core.types import Block

_GAP = "\n\n---\n\n"
_HEAD = re.compile(rf"^\[({WRITTEN})\] Source: ([^\n]*)\n", re.MULTILINE)
_BODY = body_guard(line=RULER, markers=True)
_LINE = line_guard(markers=True)
_FIELD = field_guard(markers=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """Numbered sources; `page` shows page numbers."""

    name = "numbered"
    reads: ClassVar[tuple[str, ...]] = ("source", "page")
    page: bool = True

    def separator(self, previous: Block | None, block: Block) -> str:
        """A ruler between empty lines."""
        return aside.block_separator(previous, block, _GAP)

    def preamble(self, label: str, summary: str) -> str:
        """`[label: summary]` on its own line."""
        return aside.summary_line(label, summary, _LINE) + "\n"

    def header(self, block: Block, previous: Block | None) -> str:
        """`[i] Source: S, page P, key: value`."""
        return format_numbered_line(block, _FIELD, page=self.page) + "\n"

    def body(self, text: str) -> str:
        """Neutralised: markers and lines of dashes too."""
        return _BODY(text)

    def footer(self, block: Block, following: Block | None) -> str:
        """Nothing."""
        return ""

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """`[Supplement: title]` before the body, nothing after it."""
        return aside.supplement_line(block, _LINE) + "\n", ""

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with marker, source, page and metadata."""
        return tuple(
            ParsedBlock(
                text=_BODY.undo(text[start:end]),
                fields=with_summary(parse_numbered_line(head[1], head[2], _FIELD), summary),
                start=start,
            )
            for head, summary, start, end in aside.parse_passages(text, _HEAD, _GAP, _LINE)
        )

    def shown(self, block: Block) -> ParsedBlock:
        """The text, marker, source, page and metadata."""
        names = ("marker", "source", "page") if self.page else ("marker", "source")
        return ParsedBlock(text=block.text, fields=fields(block, *names))

    def label(self, block: Block) -> str:
        """`[i]`."""
        return f"[{block.marker}]"
