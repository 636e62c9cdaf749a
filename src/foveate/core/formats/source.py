"""`[SOURCE i] file § section, row N`, or `line N`, then the text; an empty line between blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import Guards, guards
from foveate.core.formats.shared.text_format import TextFormat
from foveate.core.text.markers import WRITTEN
from foveate.core.types import Block

_HEAD = re.compile(rf"^\[SOURCE ({WRITTEN})\] ([^\n]*)\n", re.MULTILINE)
# In capitals always, else only with a number: `[source,python]` is AsciiDoc.
_MARK = r"[ \t]*+(?:SOURCE|(?i:source)[ \t]*+[#:]?+[ \t]*+\d)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLabel(TextFormat):
    """Each block under its source label."""

    name = "source"
    guards: ClassVar[Guards] = guards(_MARK, rows=True, lines=True)
    reads: ClassVar[tuple[str, ...]] = ("source", "section", "row", "line")

    def header(self, block: Block, previous: Block | None) -> str:
        """`[SOURCE i] file § section, row N, key: value`."""
        return f"[SOURCE {block.marker}] {self.write_line(block, block.source)}\n"

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The blocks back, with marker, source, section, row or line, and metadata."""
        return self.parse_blocks(text, _HEAD, self.gap, parse_header=self._parse_header)

    def label(self, block: Block) -> str:
        """`[SOURCE i]`."""
        return f"[SOURCE {block.marker}]"

    def _parse_header(self, head: re.Match[str]) -> dict[str, str]:
        return {"marker": head[1], **self.parse_line(head[2])}
