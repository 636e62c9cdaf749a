"""`[SOURCE i] file § section`, then the text; an empty line between blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared import aside
from foveate.core.formats.shared.guards import body_guard, field_guard, line_guard
from foveate.core.formats.shared.header import (
    fields,
    format_details,
    parse_details,
    parse_section,
    with_section,
    with_summary,
)
from foveate.core.text.markers import WRITTEN
from foveate.core.types import Block

_GAP = "\n\n"
_HEAD = re.compile(rf"^\[SOURCE ({WRITTEN})\] ([^\n]*)\n", re.MULTILINE)
# In capitals always, else only with a number: `[source,python]` is AsciiDoc.
_MARK = r"[ \t]*+(?:SOURCE|(?i:source)[ \t]*+[#:]?+[ \t]*+\d)"
_BODY = body_guard(square=(_MARK,), markers=True)
_LINE = line_guard(_MARK, markers=True)
_FIELD = field_guard(_MARK, markers=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLabel:
    """Each block under its source label."""

    name = "source"
    reads: ClassVar[tuple[str, ...]] = ("source", "section")

    def separator(self, previous: Block | None, block: Block) -> str:
        """An empty line."""
        return aside.block_separator(previous, block, _GAP)

    def preamble(self, label: str, summary: str) -> str:
        """`[label: summary]` on its own line."""
        return aside.summary_line(label, summary, _LINE) + "\n"

    def header(self, block: Block, previous: Block | None) -> str:
        """`[SOURCE i] file § section, key: value`."""
        name = with_section(block.source, block.section, _FIELD)
        return f"[SOURCE {block.marker}] {name}{format_details(block, _FIELD, page=False)}\n"

    def body(self, text: str) -> str:
        """Neutralised: source labels too."""
        return _BODY(text)

    def footer(self, block: Block, following: Block | None) -> str:
        """Nothing."""
        return ""

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """`[Supplement: title]` before the body, nothing after it."""
        return aside.supplement_line(block, _LINE) + "\n", ""

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with marker, source, section and metadata."""
        return tuple(
            ParsedBlock(
                text=_BODY.undo(text[start:end]),
                fields=with_summary(_parse_header(head[1], head[2]), summary),
                start=start,
            )
            for head, summary, start, end in aside.parse_passages(text, _HEAD, _GAP, _LINE)
        )

    def shown(self, block: Block) -> ParsedBlock:
        """The text, marker, source, section and metadata."""
        return ParsedBlock(text=block.text, fields=fields(block, "marker", "source", "section"))

    def label(self, block: Block) -> str:
        """`[SOURCE i]`."""
        return f"[SOURCE {block.marker}]"


def _parse_header(marker: str, line: str) -> dict[str, str]:
    lead, found = parse_details(line, _FIELD)
    source, section = parse_section(lead, _FIELD)
    known = {"marker": marker, "source": source, **found}
    return {**known, "section": section} if section else known
