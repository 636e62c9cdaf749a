"""`[DOC: path]` once for a run of one document, then one text after another, each on its own lines.

Texts stand as they are, further lines included, so nothing tells the texts of one run apart, and
`parse` gives a run back as one block. A header is written where the document or its metadata
changes, and under a page summary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import Guards, guards
from foveate.core.formats.shared.text_format import (
    BETWEEN,
    TextFormat,
    is_same_document,
    one_line,
)
from foveate.core.types import Block

_DOC = "[DOC: "
_HEAD = re.compile(r"^\[DOC: ([^\n]*)\]\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doc(TextFormat):
    """Texts under their document's path."""

    name = "doc"
    guards: ClassVar[Guards] = guards(r"(?i:[ \t]*+doc[ \t]*+:)")
    joins_runs: ClassVar[bool] = True
    reads: ClassVar[tuple[str, ...]] = ("source",)

    def separator(self, previous: Block | None, block: Block) -> str:
        """An empty line between documents (each text ends its own line)."""
        return self.separate(previous, block, "" if is_same_document(block, previous) else "\n")

    def header(self, block: Block, previous: Block | None) -> str:
        """`[DOC: path, key: value]`, or nothing within a run."""
        if is_same_document(block, previous):
            return ""
        return f"{_DOC}{BETWEEN(self.write_line(block, block.source))}]\n"

    def footer(self, block: Block, following: Block | None) -> str:
        """The end of the text's line."""
        return "\n" if block.kind == "chunk" else ""

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The runs back, a block each; each has its document's source and metadata."""
        text = text.removesuffix("\n")
        return self.parse_blocks(text, _HEAD, self.gap, parse_header=self._parse_header)

    def shown(self, block: Block) -> ParsedBlock:
        """The text, its document's source and metadata."""
        return self.shown_fields(block, "source")

    def label(self, block: Block) -> str:
        """The path."""
        return one_line(block.source)

    def _parse_header(self, head: re.Match[str]) -> dict[str, str]:
        return self.parse_line(BETWEEN.undo(head[1]))
