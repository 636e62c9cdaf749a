"""Builds a text from paragraphs, headings, items and rows, with Markdown's block marks."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from foveate.core.cells import column_letters
from foveate.core.errors import BadInput
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.text import Heading, plain_title
from foveate.ports import Section

_MAX_DEPTH = 8


@dataclass(slots=True)
class Blocks:
    """The text so far, and the places of its headings. `size` is its length."""

    limits: Limits
    size: int = 0
    headings: list[Heading] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _group: str = ""

    def add_heading(self, level: int, text: str, *, counts: bool = True) -> None:
        """Add a heading; it opens a section unless `counts` is false."""
        title = plain_title(text)
        if title:
            start = self._append(f"{'#' * min(level, 6)} {title}", "")
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


_FIELDS = 5
_COLUMNS = 16_384


class Rows(Sequence[Section]):
    """Sections of rows in order, built on access; equal to a tuple of the same.

    `columns`: starts, ends, row numbers, indices of the sheets' names in `names`, and of the rows'
    first cells in `cells`, each of which is its start times 16,384 and the number of its column.
    """

    def __init__(
        self,
        columns: Iterable[Sequence[int]] = ((),) * _FIELDS,
        names: Iterable[str] = (),
        cells: Iterable[int] = (),
    ) -> None:
        self.columns = tuple(array("I", column) for column in columns)
        self.names = list(names)
        self.cells = array("q", cells)
        if len(self.columns) != _FIELDS or len(set(map(len, self.columns))) > 1:
            raise ValueError(f"rows need {_FIELDS} columns of one length")
        if any(first > following for first, following in pairwise(self.columns[-1])):
            raise ValueError("columns of cells go back")

    def add(self, start: int, end: int, row: int, name: str) -> None:
        """One more row, of the sheet of that name."""
        if not self.names or self.names[-1] != name:
            self.names.append(name)
        values = (start, end, row, len(self.names) - 1, len(self.cells))
        for column, value in zip(self.columns, values, strict=True):
            column.append(value)

    def add_cell(self, start: int, column: int) -> None:
        """One more cell of the row that was added last."""
        self.cells.append(start * _COLUMNS + column)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return tuple(self[number] for number in range(len(self))[at])
        start, end, row, sheet, first = (column[at] for column in self.columns)
        firsts = self.columns[-1]
        after = range(len(self))[at] + 1
        last = firsts[after] if after < len(firsts) else len(self.cells)
        cells = (divmod(cell, _COLUMNS) for cell in self.cells[first:last])
        return Section(
            start=start,
            end=end,
            path=self.names[sheet],
            row=row,
            cells=tuple((place, f"{column_letters(column)}{row}") for place, column in cells),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # it grows


_NUMBER = re.compile(r"[-+(]?[\d.,:/ -]*\d[\d.,:/ -]*%?\)?")
_MAX_NAME_LENGTH = 100
_BETWEEN = "; "


@dataclass(slots=True)
class Records:
    """The text so far and a section a row; `begin` a sheet, `take` its rows, then `end` it."""

    limits: Limits
    blocks: Blocks
    sections: Rows = field(default_factory=Rows)
    _sheet: str = ""
    _names: list[str] | None = None
    _first: tuple[int, list[str]] | None = None
    _rows: int = 0

    def begin_sheet(self, sheet: str) -> None:
        """A sheet begins; its name is its rows' section."""
        self._sheet, self._names, self._first = sheet, None, None

    def add_row(self, row: int, cells: list[str]) -> None:
        """A row by its number in the file."""
        self._rows += 1
        self.limits.check_bound("rows", self._rows, "rows")
        if len(cells) > _COLUMNS:
            raise BadInput(f"row {row} has {len(cells)} cells, more than {_COLUMNS}")
        for cell in cells:
            self.limits.check_bound("cell_chars", len(cell), f"characters in a cell of row {row}")
        said = [" ".join(cell.split()) for cell in cells]
        if not any(said):
            return
        if self._names is None and self._first is None:
            self._first = (row, said)
            return
        self._decide_header(follows=True)
        self._write_row(row, said)

    def end_sheet(self) -> None:
        """The sheet's end."""
        self._decide_header(follows=False)

    def _decide_header(self, *, follows: bool) -> None:
        """Decide what the first row is, once it is known whether another follows."""
        if self._names is not None or self._first is None:
            return
        row, said = self._first
        heads = follows and _is_header(said)
        self._names = said if heads else []
        if not heads:
            self._write_row(row, said)

    def _write_row(self, row: int, said: list[str]) -> None:
        names = self._names or []
        pairs = [
            (i, f"{names[i] if i < len(names) and names[i] else column_letters(i)}: {cell}")
            for i, cell in enumerate(said)
            if cell
        ]
        start = self.blocks.add_paragraph(_BETWEEN.join(pair for _, pair in pairs))
        self.sections.add(start, self.blocks.size, row, self._sheet)
        for column, pair in pairs:
            self.sections.add_cell(start, column)
            start += len(pair) + len(_BETWEEN)


def _is_header(said: list[str]) -> bool:
    names = [name for name in said if name]
    if any(len(name) > _MAX_NAME_LENGTH or _NUMBER.fullmatch(name) for name in names):
        return False
    return len(set(names)) == len(names)
