"""`### [i] Title`, its source in italics, an empty line, the text; an empty line between blocks.

`[i]` occurs in the context as a marker only: digits in brackets are neutralised in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import HEADING, body_guard, field_guard, line_guard
from foveate.core.formats.shared.text_format import (
    TextFormat,
    format_details,
    one_line,
    parse_blocks,
    parse_details,
    parse_section,
    with_section,
)
from foveate.core.text.escape import Guard, closing_rule
from foveate.core.text.markers import WRITTEN
from foveate.core.types import Block

_HEAD = re.compile(rf"^### \[({WRITTEN})\] ([^\n]*)\n\*([^\n]*)\*\n\n", re.MULTILINE)
_BODY = body_guard(markers=True)
_LINE = line_guard(markers=True)
_FIELD = field_guard(markers=True)
_ORIGIN = _FIELD.with_rules(HEADING)
_ITALICS = Guard((closing_rule("*"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Markdown(TextFormat):
    """One heading a block."""

    name = "markdown"
    body_guard: ClassVar[Guard] = _BODY
    line_guard: ClassVar[Guard] = _LINE
    reads: ClassVar[tuple[str, ...]] = ("title", "source", "section", "page")

    def header(self, block: Block, previous: Block | None) -> str:
        """The heading, and `*source § section, page P, key: value*`."""
        title = _LINE(one_line(block.title) or one_line(block.source))
        origin = with_section(block.source, block.section, _ORIGIN)
        origin = _ITALICS(origin + format_details(block, _FIELD, page=True))
        return f"### [{block.marker}] {title}\n*{origin}*\n\n"

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with marker, title, source, section, page and metadata."""
        return parse_blocks(text, _HEAD, self.gap, (_BODY, _LINE), _parse_header)


def _parse_header(head: re.Match[str]) -> dict[str, str]:
    marker, title, origin = head.groups()
    lead, found = parse_details(_ITALICS.undo(origin), _FIELD)
    source, section = parse_section(lead, _ORIGIN)
    known = {"marker": marker, "title": _LINE.undo(title), "source": source, **found}
    return {**known, "section": section} if section else known
