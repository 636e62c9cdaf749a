"""Builds a text from paragraphs, headings, items and rows, with Markdown's block marks."""

from __future__ import annotations

from dataclasses import dataclass, field

from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.text import Heading, plain_title

_MAX_DEPTH = 8


@dataclass(slots=True)
class Blocks:
    """The text so far, and where its headings stand. `size` is its length."""

    limits: Limits
    size: int = 0
    headings: list[Heading] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _group: str = ""

    def add_heading(self, level: int, text: str, *, counts: bool = True) -> None:
        """A heading; where it does not count it opens no section."""
        title = plain_title(text)
        if title:
            start = self._append(f"{'#' * min(level, 6)} {title}", "")
            if counts:
                self.headings.append((start, level, title))

    def add_paragraph(self, text: str) -> int:
        """A paragraph; where it starts."""
        return self._append(text.strip(), "")

    def add_item(self, depth: int, mark: str, text: str) -> None:
        """An item of a list; `depth` counts from 0."""
        if text.strip():
            self._append(f"{'  ' * min(depth, _MAX_DEPTH)}{mark} {' '.join(text.split())}", "item")

    def add_row(self, cells: list[str]) -> None:
        """A row of a table."""
        if any(cell.strip() for cell in cells):
            self._append(f"| {' | '.join(' '.join(cell.split()) for cell in cells)} |", "row")

    def end_group(self) -> None:
        """What comes next stands apart, even where it is one more item or row."""
        self._group = ""

    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)

    def _append(self, text: str, tight: str) -> int:
        if not text:
            return self.size
        gap = ("\n" if tight and tight == self._group else "\n\n") if self._parts else ""
        self._parts += (gap, text)
        start = self.size + len(gap)
        self.size = start + len(text)
        self._group = tight
        self.limits.check_bound("text_chars", self.size, "characters of text")
        return start
