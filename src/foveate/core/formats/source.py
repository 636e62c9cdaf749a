"""`[SOURCE i] file § section`, then the text; an empty line between blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import body_guard, field_guard, line_guard
from foveate.core.formats.shared.text_format import (
    TextFormat,
    format_details,
    parse_blocks,
    parse_details,
    parse_section,
    with_section,
)
from foveate.core.text.escape import Guard
from foveate.core.text.markers import WRITTEN
from foveate.core.types import Block

_HEAD = re.compile(rf"^\[SOURCE ({WRITTEN})\] ([^\n]*)\n", re.MULTILINE)
# In capitals always, else only with a number: `[source,python]` is AsciiDoc.
_MARK = r"[ \t]*+(?:SOURCE|(?i:source)[ \t]*+[#:]?+[ \t]*+\d)"
_BODY = body_guard(square=(_MARK,), markers=True)
_LINE = line_guard(_MARK, markers=True)
_FIELD = field_guard(_MARK, markers=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLabel(TextFormat):
    """Each block under its source label."""

    name = "source"
    body_guard: ClassVar[Guard] = _BODY
    line_guard: ClassVar[Guard] = _LINE
    reads: ClassVar[tuple[str, ...]] = ("source", "section")

    def header(self, block: Block, previous: Block | None) -> str:
        """`[SOURCE i] file § section, key: value`."""
        name = with_section(block.source, block.section, _FIELD)
        return f"[SOURCE {block.marker}] {name}{format_details(block, _FIELD, page=False)}\n"

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with marker, source, section and metadata."""
        return parse_blocks(text, _HEAD, self.gap, (_BODY, _LINE), _parse_header)

    def label(self, block: Block) -> str:
        """`[SOURCE i]`."""
        return f"[SOURCE {block.marker}]"


def _parse_header(head: re.Match[str]) -> dict[str, str]:
    marker, line = head.groups()
    lead, found = parse_details(line, _FIELD)
    source, section = parse_section(lead, _FIELD)
    known = {"marker": marker, "source": source, **found}
    return {**known, "section": section} if section else known
