"""Merged cells: each row with the values that span into it, and names of several lines as one.

A span may say that it covers millions of cells, so what is repeated is bounded by what is written,
and so are the empty cells that stand for the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from foveate.ingest.loaders.column_names import join_names, names_go_on
from foveate.ingest.loaders.tags import Tag

LONGEST = 200
"""Characters of a value that is repeated; where a longer one spans, cells are empty."""
START, SHARE = 10_000, 4
"""Characters that may be repeated: so many, and that many times what is written."""
MOST_EMPTY = 1_000
"""Cells that stand empty for one that may not be repeated, so that columns stay where they are."""
_BETWEEN = 3  # characters between two cells


class Cell(NamedTuple):
    """A cell by its text, and of HTML by its tags, unless the text was repeated.

    `columns`, `rows`: how many it covers; no rows if it goes on with the cell above it,
    unless it has a text of its own.
    """

    text: str
    columns: int = 1
    rows: int = 1
    tags: tuple[Tag, ...] = ()


@dataclass(slots=True)
class Allowance:
    """How many characters may still be repeated, and how many may stand between empty cells."""

    left: int = START
    between: int = START

    def earn(self, text: str) -> None:
        """The text was written."""
        self.left += SHARE * len(text)
        self.between += SHARE * len(text)

    def spend(self, text: str, times: int) -> bool:
        """Whether it may be repeated so many times; if it may, that is counted."""
        cost = times * (min(len(text), LONGEST) + _BETWEEN)
        is_allowed = cost <= self.left
        self.left -= cost if is_allowed else 0
        return is_allowed

    def spend_empty(self, times: int) -> int:
        """How many of so many empty cells may stand; that is counted."""
        allowed = min(times, MOST_EMPTY, self.between // _BETWEEN)
        self.between -= allowed * _BETWEEN
        return allowed


@dataclass(slots=True)
class MergedCells:
    """The rows of one table: `add` each, then `finish`; both give those that are to be written.

    A row has a cell for each column, and is left out if it has no text of its own; behind a title
    over all columns are no more cells. `allowance`: of all tables of a document; `count`: how many
    rows there are.
    """

    allowance: Allowance = field(default_factory=Allowance)
    count: int = 0
    _row: int = 0
    _down: dict[int, tuple[int, Cell]] = field(default_factory=dict)  # by column: last row, cell
    _above: list[Cell] = field(default_factory=list)
    _held: list[Cell] = field(default_factory=list)  # the names so far, or a title
    _has_names: bool = False

    def add(self, cells: Sequence[Cell]) -> list[list[Cell]]:
        """The rows that are complete with this one."""
        row = self._spread(cells)
        if not any(cell.text.strip() for cell in cells):
            return []
        self.count += 1
        if self._has_names:
            return [row]
        held, self._held = self._held, row
        if _has_more_names(held, row):
            self._held = _join_names(held, row)
            return []
        self._has_names = len(held) > 1  # else it was a title
        return [*filter(None, [held]), *([row] if self._has_names else [])]

    def finish(self) -> list[list[Cell]]:
        """The row that was held back."""
        return [] if self._has_names or not self._held else [self._held]

    def end_group(self) -> None:
        """No cell spans into the rows that follow."""
        self._down.clear()

    def _spread(self, cells: Sequence[Cell]) -> list[Cell]:
        """The row with a cell in each column."""
        self._row += 1
        row: list[Cell] = []
        for cell in cells:
            self._add_from_above(row)
            self.allowance.earn(cell.text)
            column = len(row)
            if cell.rows or cell.text.strip():
                row += [cell, *self._repeat(cell, cell.columns - 1)]
            else:
                above = self._above[column] if column < len(self._above) else cell
                row += self._repeat(above, cell.columns, rows=0) or [cell]
            if cell.rows > 1:
                last = self._row + cell.rows - 1
                self._down.update(dict.fromkeys(range(column, len(row)), (last, cell)))
        if cells:
            self._add_from_above(row)
        self._above = row
        return _without_repeats(row, cells)

    def _add_from_above(self, row: list[Cell]) -> None:
        """Add what spans into the columns that are next."""
        while len(row) in self._down:
            last, cell = self._down[len(row)]
            repeated = self._repeat(cell, 1, rows=0) if last >= self._row else []
            if not repeated:
                del self._down[len(row)]
            row += repeated

    def _repeat(self, cell: Cell, times: int, rows: int = 1) -> list[Cell]:
        """The cell so many times; empty ones if that is too much, and fewer beyond all bounds."""
        if times < 1:
            return []
        if not self.allowance.spend(cell.text, times):
            return [Cell("", rows=rows)] * self.allowance.spend_empty(times)
        return [Cell(cell.text if len(cell.text) <= LONGEST else "", rows=rows)] * times


def _without_repeats(row: list[Cell], cells: Sequence[Cell]) -> list[Cell]:
    """The row up to its only text, if that covers columns and is from one of these cells alone."""
    own = [cell for cell in cells if cell.text.strip()]
    if len(own) != 1 or own[0].columns < 2 or {c.text for c in row if c.text} != {own[0].text}:
        return row
    return row[: row.index(own[0]) + 1]


def _has_more_names(upper: Sequence[Cell], lower: Sequence[Cell]) -> bool:
    """Whether the lower row has names below wide ones, and not values.

    Both are marked as names, or cells beside the wide ones span both, or what is below one of these
    is below another one again.
    """
    wide = [(n, cell.columns) for n, cell in enumerate(upper) if cell.columns > 1]
    texts = [cell.text for cell in lower]
    if not wide or not names_go_on([cell.text for cell in upper], texts):
        return False
    marks = {cell.tags[0].name for cell in (*upper, *lower) if cell.tags and cell.text}
    if marks == {"th"} or any(not cell.rows for cell in lower):
        return True
    below = Counter(tuple(texts[first : first + columns]) for first, columns in wide)
    return any(times > 1 and len({*names}) > 1 for names, times in below.items())


def _join_names(upper: Sequence[Cell], lower: Sequence[Cell]) -> list[Cell]:
    below = [*lower, *upper[len(lower) :]]
    above = [*upper, *lower[len(upper) :]]
    return [
        Cell(join_names(one.text, other.text), other.columns)
        for one, other in zip(above, below, strict=True)
    ]


@dataclass(slots=True)
class MergedRanges:
    """Merged ranges of a sheet: `add` each before its first row, then `fill` the rows in order.

    `is_wide`: whether one over several columns begins in the row that was filled last.
    """

    is_wide: bool = False
    _starts: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)
    _open: list[tuple[int, range, str]] = field(default_factory=list)  # last row, columns, text
    _allowance: Allowance = field(default_factory=Allowance)

    def add(self, first: int, last: int, left: int, right: int) -> None:
        """The cells of these rows and columns are one, unless an end is before its start."""
        if first <= last and left <= right:
            self._starts.setdefault(first, []).append((last, left, right))

    def fill(self, row: int, cells: Mapping[int, str]) -> Mapping[int, str]:
        """The row with the values that span into it; a single one, as a title, stands once."""
        self.is_wide = any(left < right for _, left, right in self._starts.get(row, ()))
        if not self._starts and not self._open:
            return cells
        for text in cells.values():
            self._allowance.earn(text)
        for last, left, right in self._starts.pop(row, ()):
            if 0 < len(cells.get(left, "")) <= LONGEST:
                self._open.append((last, range(left, right + 1), cells[left]))
        self._open = [
            (last, columns, text)
            for last, columns, text in self._open
            if last >= row and self._allowance.spend(text, len(columns))
        ]
        filled = {column: text for _, columns, text in self._open for column in columns}
        if len(cells) == 1 and {*filled.values()} <= {*cells.values()}:
            return cells
        return dict(sorted((filled | dict(cells)).items()))
