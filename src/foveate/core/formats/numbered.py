"""`[i] Source: S, page P`, the text, and a ruler between blocks.

`[i]` occurs in the context as a marker only: digits in brackets are neutralised in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import Parsed
from foveate.core.layout import aside
from foveate.core.layout.guards import MARKER, RULER, body_guard, field_guard, line_guard
from foveate.core.layout.header import fields, numbered_line, read_numbered, with_summary
from foveate.core.types import Block

_GAP = "\n\n---\n\n"
_HEAD = re.compile(r"^\[(-?\d+)\] Source: ([^\n]*)\n", re.MULTILINE)
_BODY = body_guard(square=(MARKER,), line=RULER)
_LINE = line_guard(MARKER)
_FIELD = field_guard(MARKER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """Numbered sources; `page` shows page numbers."""

    name: ClassVar[str] = "numbered"
    reads: ClassVar[tuple[str, ...]] = ("source", "page")
    page: bool = True

    def separator(self, previous: Block | None, block: Block) -> str:
        """A ruler between empty lines."""
        return aside.between(previous, block, _GAP)

    def preamble(self, label: str, summary: str) -> str:
        """`[label: summary]` on its own line."""
        return aside.summary_line(label, summary, _LINE) + "\n"

    def header(self, block: Block, previous: Block | None) -> str:
        """`[i] Source: S, page P, key: value`."""
        return numbered_line(block, _FIELD, page=self.page) + "\n"

    def body(self, text: str) -> str:
        """Neutralised: markers and lines of dashes too."""
        return _BODY(text)

    def footer(self, block: Block, following: Block | None) -> str:
        """Nothing."""
        return ""

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """`[Supplement: title]` before the body, nothing after it."""
        return aside.supplement_line(block, _LINE) + "\n", ""

    def parse(self, text: str) -> tuple[Parsed, ...]:
        """The blocks back, with marker, source, page and metadata."""
        return tuple(
            Parsed(
                text=_BODY.undo(text[start:end]),
                fields=with_summary(read_numbered(head[1], head[2], _FIELD), summary),
                start=start,
            )
            for head, summary, start, end in aside.passages(text, _HEAD, _GAP, _LINE)
        )

    def shown(self, block: Block) -> Parsed:
        """The text, marker, source, page and metadata."""
        names = ("marker", "source", "page") if self.page else ("marker", "source")
        return Parsed(text=block.text, fields=fields(block, *names))

    def label(self, block: Block) -> str:
        """`[i]`."""
        return f"[{block.marker}]"
