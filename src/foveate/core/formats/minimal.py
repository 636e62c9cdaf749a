"""Texts with an empty line between them; page summaries, but no sources, pages or markers.

Empty lines separate texts, so a blank line of a text gets one more leading space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared.guards import LABEL_TAIL, Guards, guards
from foveate.core.formats.shared.text_format import TextFormat, one_line
from foveate.core.text.escape import empty_blank_lines, fill_blank_lines, text_start_rule
from foveate.core.types import Block

_SUMMARY_START = text_start_rule("[", LABEL_TAIL)
"""A text that opens like a page summary would be read back as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimal(TextFormat):
    """The texts alone."""

    name = "minimal"
    guards: ClassVar[Guards] = guards(rules=(_SUMMARY_START,), markers=False)
    reads: ClassVar[tuple[str, ...]] = ()

    def header(self, block: Block, previous: Block | None) -> str:
        """Nothing."""
        return ""

    def body(self, text: str) -> str:
        """Neutralised, and without an empty line."""
        return fill_blank_lines(self.guards.body(text))

    def parse(self, text: str) -> tuple[ParsedBlock, ...]:
        """The texts, with `summary` where one stood before them."""
        at = 0
        found = []
        while at < len(text):
            end = text.find(self.gap, at)
            end = len(text) if end < 0 else end
            known, start = self.split_summary(text, at)
            body = self.guards.body.undo(empty_blank_lines(text[start:end]))
            found.append(ParsedBlock(text=body, fields=known, start=start))
            at = end + len(self.gap)
        return tuple(found)

    def shown(self, block: Block) -> ParsedBlock:
        """The text, and the page summary."""
        fields = {"summary": one_line(block.summary)} if block.summary else {}
        return ParsedBlock(text=block.text, fields=fields)

    def label(self, block: Block) -> str:
        """The source: nothing in the text refers to a block."""
        return one_line(block.source)
