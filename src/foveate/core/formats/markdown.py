"""`### [i] Title`, its source in italics, an empty line, the text; an empty line between blocks.

`[i]` occurs in the context as a marker only: digits in brackets are neutralised in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import Guards, guards
from foveate.core.formats.shared.text_format import TextFormat, one_line
from foveate.core.text.escape import Guard, closing_rule
from foveate.core.text.markers import WRITTEN
from foveate.core.types import Block

_HEAD = re.compile(rf"^### \[({WRITTEN})\] ([^\n]*)\n\*([^\n]*)\*\n\n", re.MULTILINE)
_ITALICS = Guard((closing_rule("*"),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Markdown(TextFormat):
    """One heading a block."""

    name = "markdown"
    guards: ClassVar[Guards] = guards(heading=True)
    reads: ClassVar[tuple[str, ...]] = ("title", "source", "section", "page")

    def header(self, block: Block, previous: Block | None) -> str:
        """The heading, and `*source § section, page P, key: value*`."""
        title = self.guards.line(one_line(block.title) or one_line(block.source))
        origin = _ITALICS(self.write_line(block, block.source))
        return f"### [{block.marker}] {title}\n*{origin}*\n\n"

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with marker, title, source, section, page and metadata."""
        return self.parse_blocks(text, _HEAD, self.gap, parse_header=self._parse_header)

    def _parse_header(self, head: re.Match[str]) -> dict[str, str]:
        marker, title, origin = head.groups()
        known = {"marker": marker, "title": self.guards.line.undo(title)}
        return {**known, **self.parse_line(_ITALICS.undo(origin))}
