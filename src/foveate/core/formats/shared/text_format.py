"""What most formats of plain text have in common."""

from __future__ import annotations

from typing import ClassVar

from foveate.core.contracts import ParsedBlock
from foveate.core.formats.shared import aside
from foveate.core.formats.shared.header import fields
from foveate.core.text.escape import Guard
from foveate.core.types import Block


class TextFormat:
    """A format whose blocks have `gap` between them; a subclass overrides what it does otherwise.

    `body_guard` and `line_guard` neutralise texts and one-line fields. A subclass defines `header`
    and `parse`.
    """

    __slots__ = ()
    gap: ClassVar[str] = "\n\n"
    body_guard: ClassVar[Guard]
    line_guard: ClassVar[Guard]
    reads: ClassVar[tuple[str, ...]]

    def separator(self, previous: Block | None, block: Block) -> str:
        """The gap, or the end of the supplements."""
        return aside.block_separator(previous, block, self.gap)

    def preamble(self, label: str, summary: str) -> str:
        """`[label: summary]` on its own line."""
        return aside.summary_line(label, summary, self.line_guard) + "\n"

    def body(self, text: str) -> str:
        """The text, neutralised."""
        return self.body_guard(text)

    def footer(self, block: Block, following: Block | None) -> str:
        """Nothing."""
        return ""

    def aside(self, block: Block, following: Block | None) -> tuple[str, str]:
        """`[Supplement: title]` before the body, nothing after it."""
        return aside.supplement_line(block, self.line_guard) + "\n", ""

    def shown(self, block: Block) -> ParsedBlock:
        """The text, the marker, the fields that are read, and metadata."""
        return ParsedBlock(text=block.text, fields=fields(block, "marker", *self.reads))

    def label(self, block: Block) -> str:
        """`[i]`."""
        return f"[{block.marker}]"
