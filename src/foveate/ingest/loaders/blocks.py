"""Builds a text from paragraphs, headings, items and rows, with Markdown's block marks."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.merged_cells import Cell
from foveate.ingest.loaders.text import Heading, plain_title
from foveate.ports import Section

_MAX_DEPTH = 8


@dataclass(slots=True)
class Blocks:
    """The text so far, and the places of its headings. `size` is its length.

    `left_out`: how much of which kind the file shows that is not in the text.
    """

    limits: Limits
    size: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    headings: list[Heading] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _group: str = ""

    def add_heading(
        self, level: int, text: str, *, counts: bool = True, below_title: bool = False
    ) -> None:
        """Add a heading; it opens a section unless `counts` is false.

        `below_title`: level 1 is written one deeper, for the title of the document has that.
        """
        title = plain_title(text)
        if title:
            start = self._append(f"{'#' * min(level + below_title, 6)} {title}", "")
            if counts:
                self.headings.append((start, level, title))

    def add_paragraph(self, text: str) -> int:
        """Add a paragraph; its start."""
        return self._append(text.strip(), "")

    def add_item(self, depth: int, mark: str, text: str) -> None:
        """An item of a list; `depth` counts from 0."""
        if text.strip():
            self._append(f"{'  ' * min(depth, _MAX_DEPTH)}{mark} {' '.join(text.split())}", "item")

    def add_row(self, cells: list[str]) -> None:
        """A row of a table."""
        if any(cell.strip() for cell in cells):
            self._append(f"| {' | '.join(' '.join(cell.split()) for cell in cells)} |", "row")

    def add_rows(self, rows: Iterable[Sequence[Cell]], *, is_layout: bool = False) -> None:
        """Rows of a table; of one that lays the page out, each cell is a paragraph."""
        for row in rows:
            texts = [cell.text for cell in row]
            if is_layout:
                for text in texts:
                    self.add_paragraph(" ".join(text.split()))
            else:
                self.add_row(texts)

    def leave_out(self, kind: str, number: int = 1) -> None:
        """So many things of that kind, named in the plural, are not read."""
        if number:
            self.left_out[kind] += number

    def end_group(self) -> None:
        """Separate what comes next, even another item or row."""
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


_FIELDS = 4
MAX_COLUMNS = 16_384
"""Columns of a sheet."""
MOST_BUILT = 8
"""Sections that are kept once they were built."""


class Rows(Sequence[Section]):
    """Sections of rows in order, built on access; equal to a tuple of the same.

    `columns`: starts, ends, row numbers, and indices of the sheets' names in `names`.
    """

    def __init__(
        self,
        columns: Iterable[Sequence[int]] = ((),) * _FIELDS,
        names: Iterable[str] = (),
    ) -> None:
        self.columns = tuple(array("I", column) for column in columns)
        self.names = list(names)
        self._built: dict[int, Section] = {}  # the last few: many chunks are of one wide row
        if len(self.columns) != _FIELDS or len(set(map(len, self.columns))) > 1:
            raise ValueError(f"rows need {_FIELDS} columns of one length")

    def add(self, start: int, end: int, row: int, name: str) -> None:
        """One more row, of the sheet of that name."""
        self._built.clear()
        if not self.names or self.names[-1] != name:
            self.names.append(name)
        values = (start, end, row, len(self.names) - 1)
        for column, value in zip(self.columns, values, strict=True):
            column.append(value)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return tuple(self[number] for number in range(len(self))[at])
        at = range(len(self))[at]
        if at not in self._built:
            if len(self._built) == MOST_BUILT:
                self._built.clear()
            self._built[at] = self._build(at)
        return self._built[at]

    def _build(self, at: int) -> Section:
        start, end, row, sheet = (column[at] for column in self.columns)
        return Section(start=start, end=end, path=self.names[sheet], row=row)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # it grows
