"""`### [i] Title`, its source in italics, an empty line, the text; an empty line between blocks.

`[i]` occurs in the context as a marker only: digits in brackets are neutralised in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared import aside
from foveate.core.formats.shared.guards import HEADING, body_guard, field_guard, line_guard
from foveate.core.formats.shared.header import (
    fields,
    format_details,
    one_line,
    parse_details,
    parse_section,
    with_section,
    with_summary,
)
from foveate.core.text.escape import Guard, closing_rule
from foveate.core.text.markers import WRITTEN
from foveate.core.types import Block

_GAP = "\n\n"
_HEAD = re.compile(rf"^### \[({WRITTEN})\] ([^\n]*)\n\*([^\n]*)\*\n\n", re.MULTILINE)
_BODY = body_guard(markers=True)
_LINE = line_guard(markers=True)
_FIELD = field_guard(markers=True)
_ORIGIN = _FIELD.with_rules(HEADING)
_ITALICS = Guard((closing_rule("*"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Markdown:
    """One heading a block."""

    name = "markdown"
    reads: ClassVar[tuple[str, ...]] = ("title", "source", "section", "page")

    def separator(self, previous: Block | None, block: Block) -> str:
        """An empty line."""
        return aside.block_separator(previous, block, _GAP)

    def preamble(self, label: str, summary: str) -> str:
        """`[label: summary]` on its own line."""
        return aside.summary_line(label, summary, _LINE) + "\n"

    def header(self, block: Block, previous: Block | None) -> str:
        """The heading, and `*source § section, page P, key: value*`."""
        title = _LINE(one_line(block.title) or one_line(block.source))
        origin = with_section(block.source, block.section, _ORIGIN)
        origin = _ITALICS(origin + format_details(block, _FIELD, page=True))
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

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with marker, title, source, section, page and metadata."""
        return tuple(
            ParsedBlock(
                text=_BODY.undo(text[start:end]),
                fields=with_summary(_parse_header(*head.groups()), summary),
                start=start,
            )
            for head, summary, start, end in aside.parse_passages(text, _HEAD, _GAP, _LINE)
        )

    def shown(self, block: Block) -> ParsedBlock:
        """The text and its header; the source where there is no title."""
        known = fields(block, "marker", "title", "source", "section", "page")
        return ParsedBlock(text=block.text, fields=known)

    def label(self, block: Block) -> str:
        """`[i]`."""
        return f"[{block.marker}]"


def _parse_header(marker: str, title: str, origin: str) -> dict[str, str]:
    lead, found = parse_details(_ITALICS.undo(origin), _FIELD)
    source, section = parse_section(lead, _ORIGIN)
    known = {"marker": marker, "title": _LINE.undo(title), "source": source, **found}
    return {**known, "section": section} if section else known
