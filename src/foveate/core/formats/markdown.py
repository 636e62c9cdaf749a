"""`### [i] Title`, its source in italics, an empty line, the text; an empty line between blocks.

`[i]` occurs in the context as a marker only: digits in brackets are neutralised in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import Parsed
from foveate.core.layout import aside
from foveate.core.layout.guards import MARKER, body_guard, field_guard, line_guard
from foveate.core.layout.header import (
    details,
    fields,
    one_line,
    read_details,
    read_section,
    with_section,
    with_summary,
)
from foveate.core.text.escape import Guard, closing
from foveate.core.types import Block

_GAP = "\n\n"
_HEAD = re.compile(r"^### \[(-?\d+)\] ([^\n]*)\n\*([^\n]*)\*\n\n", re.MULTILINE)
_BODY = body_guard(square=(MARKER,))
_LINE = line_guard(MARKER)
_FIELD = field_guard(MARKER)
_ITALICS = Guard((closing("*"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Markdown:
    """One heading a block."""

    name: ClassVar[str] = "markdown"
    reads: ClassVar[tuple[str, ...]] = ("title", "source", "section", "page")

    def separator(self, previous: Block | None, block: Block) -> str:
        """An empty line."""
        return aside.between(previous, block, _GAP)

    def preamble(self, label: str, summary: str) -> str:
        """`[label: summary]` on its own line."""
        return aside.summary_line(label, summary, _LINE) + "\n"

    def header(self, block: Block, previous: Block | None) -> str:
        """The heading, and `*source § section, page P, key: value*`."""
        title = _LINE(one_line(block.title) or one_line(block.source))
        origin = with_section(block.source, block.section, _FIELD)
        origin = _ITALICS(origin + details(block, _FIELD, page=True))
        return f"### [{block.marker}] {title}\n*{origin}*\n\n"

    def body(self, text: str) -> str:
        """Neutralised: markers too."""
        return _BODY(text)

    def footer(self, block: Block, following: Block | None) -> str:
        """Nothing."""
        return ""

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """`[Supplement: title]` before the body, nothing after it."""
        return aside.supplement_line(block, _LINE) + "\n", ""

    def parse(self, text: str) -> tuple[Parsed, ...]:
        """The blocks back, with marker, title, source, section, page and metadata."""
        return tuple(
            Parsed(
                text=_BODY.undo(text[start:end]),
                fields=with_summary(_header(*head.groups()), summary),
                start=start,
            )
            for head, summary, start, end in aside.passages(text, _HEAD, _GAP, _LINE)
        )

    def shown(self, block: Block) -> Parsed:
        """The text and its header; the source where there is no title."""
        known = fields(block, "marker", "title", "source", "section", "page")
        return Parsed(text=block.text, fields=known)

    def label(self, block: Block) -> str:
        """`[i]`."""
        return f"[{block.marker}]"


def _header(marker: str, title: str, origin: str) -> dict[str, str]:
    lead, found = read_details(_ITALICS.undo(origin), _FIELD)
    source, section = read_section(lead, _FIELD)
    known = {"marker": marker, "title": _LINE.undo(title), "source": source, **found}
    return {**known, "section": section} if section else known
