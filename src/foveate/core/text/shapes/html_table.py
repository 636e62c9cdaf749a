"""HTML tables: a row is a unit and leans on the row of names; missing end tags are no errors.

A table inside of a cell belongs to the row that it stands in, unless that row is long and most of
the outer table, which then lays out a page. If the inner does not end, the outer table ends where
it begins. Either is then read as a table of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from foveate.core.text.shapes.delimited import LOOKED_AT, PAIR, names_row, usual_width
from foveate.core.text.shapes.shape import ReadResult, ShapeBuilder, torn_tag_end

FIRST = re.compile(r"<(?:table|thead|tbody|tr)\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(table|thead|tbody|tfoot|tr|th|td)\b[^<>]*+>?", re.IGNORECASE)
_CELL = re.compile(r"<t[hd]\b[^<>]*+>?", re.IGNORECASE)
_ROWSPAN = re.compile(r"<t[hd]\b[^<>]*?\browspan\s*+=\s*+[\"']?(\d{1,6})", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*+>?")
_BOLD = re.compile(r"\s*+<(?:b|strong)\b", re.IGNORECASE)
_CELL_STOP = re.compile(r"[<\n]|\Z")
FEWEST_ROWS = 2
LONGEST_ROW = 2_000
"""Characters of a row that is a unit, if it is most of a table and has a table in it."""
DEEPEST = 6
"""Tables inside one another that are read at once, so that each place is read that many times."""
STRAY_REACH = 400
"""Characters behind a stray end tag in which a table has two rows, or is given up."""
MOST_LAYOUT_ROWS = 8
"""Rows; a table with more of them, and with columns, holds data."""


def read_html_table(text: str, start: int) -> ReadResult:
    """The table that begins with the tag here, or the rest of one that begins with a row."""
    scan = _Scan(start)
    for tag in _TAG.finditer(text, start):
        if scan.ends_at(tag):
            break
    else:
        scan.cut(text)
    rows, end, whole = scan.rows, scan.end, scan.whole
    if len(rows) < FEWEST_ROWS:
        stop = scan.inner[0].start if scan.inner else end
        return ReadResult(None, max(stop, start + 1))
    if (inner := _laid_out(text, scan, start)) > start:
        return ReadResult(None, inner)
    if len(rows) > FEWEST_ROWS and _is_above_names(text, rows[:3]):
        del rows[0]  # it is a part of their unit
    above = _names_in_cells(text, rows, end) if whole and not rows[0][1] else -1
    del rows[: max(above, 0)]
    builder = ShapeBuilder()
    named = rows[0][1] or above >= 0
    head = builder.add(start) if named else -1
    if named and _has_two_lines(text, rows[:3]):
        head = builder.add(rows.pop(1)[0], head)
    bodies = rows[1:] if named else rows
    starts = [at for at, _ in bodies]
    spans = list(zip(starts, [*starts[1:], end], strict=True))
    firsts = starts if named else [start, *starts[1:]]
    cells = [_cells(text[a:b]) for a, b in spans]
    columns = usual_width(cells)
    for at in firsts:
        builder.add(at, head)
    _lean_on_spans(builder, [text[a:b] for a, b in spans])
    builder.counted.append(("rows", spans))
    shape = builder.shape(text, "html table", end, head=head, columns=columns, broken=scan.broken)
    return ReadResult(shape, max(end, start + 1))


@dataclass(slots=True)
class _Table:
    """Where a table begins, whether a row and a cell of it are open, and where its end tag is."""

    start: int
    end: int = -1
    in_row: bool = False
    in_cell: bool = False


@dataclass(slots=True)
class _Scan:
    """The rows of the outermost table: where each begins, and whether all its cells are names.

    `inner`: the tables inside of it. `whole`: it begins with its tag. `stray`: where a row or a
    cell first ends that is not open in it. A table that begins outside of a cell is the next one,
    and the end of a row or a cell that is open in an outer table alone ends the inner ones. If the
    outer was not read, it ends one without rows: else each of many such would be read to the end of
    the text.
    """

    end: int
    rows: list[tuple[int, bool]] = field(default_factory=list)
    inner: list[_Table] = field(default_factory=list)
    whole: bool = False
    broken: bool = False
    stray: int = -1
    _tables: list[_Table] = field(default_factory=list)
    _is_open: bool = False  # whether the last tag opens something
    _has_cells: bool = False  # whether a cell of the last row was read

    def ends_at(self, tag: re.Match[str]) -> bool:
        """Read a tag; whether the table ends with it, or before it."""
        closing, name = bool(tag.group(1)), tag.group(2).lower()
        if not self._tables:
            self._tables.append(_Table(tag.start()))
            self.whole = name == "table"
        elif name == "table" and not closing and self._begins_next(tag.start()):
            return True
        if name == "table" and closing:
            self._tables.pop().end = tag.end()
        elif name == "tr":
            self._row(tag.start(), closing=closing)
        elif name in ("td", "th"):
            self._cell(tag.start(), closing=closing, names=name == "th")
        elif name != "table":
            begins = not closing and len(self._tables) == 1 and tag.start() > self._tables[0].start
            if begins and not (self.whole or self.rows):
                return True  # the rest of a table has a row before another part of it
            self._tables[-1].in_row = self._tables[-1].in_cell = False
        if len(self.rows) < FEWEST_ROWS and 0 <= self.stray < tag.start() - STRAY_REACH:
            return True
        self.end, self._is_open = tag.end(), not closing
        return not self._tables

    def _begins_next(self, at: int) -> bool:
        """Open the table that begins here; whether the outermost one has ended before it."""
        if not self._tables[-1].in_cell:
            self._tables.pop()
        if not self._tables or len(self._tables) > DEEPEST:
            self.broken = bool(self._tables)
            self.end = self._tables[1].start if self._tables else at
            return True
        self.inner.append(_Table(at))
        self._tables.append(self.inner[-1])
        return False

    def _row(self, at: int, *, closing: bool) -> None:
        tables = self._tables
        while closing and len(tables) > 1 and not tables[-1].in_row:
            tables.pop()
        if closing and not tables[-1].in_row and self.stray < 0:
            self.stray = at
        tables[-1].in_row, tables[-1].in_cell = not closing, False
        if len(tables) == 1 and not closing:
            self.rows.append((at, False))
            self._has_cells = False

    def _cell(self, at: int, *, closing: bool, names: bool) -> None:
        tables = self._tables
        if closing and len(tables) > 1 and not tables[-1].in_cell:
            tables.pop()
        if closing and not tables[-1].in_cell and self.stray < 0:
            self.stray = at
        tables[-1].in_cell = not closing
        if len(tables) > 1 or closing or not self.rows:
            return
        row, only_names = self.rows[-1]
        self.rows[-1] = (row, names and (only_names or not self._has_cells))
        self._has_cells = True

    def cut(self, text: str) -> None:
        """The text ends in the table: in an inner one, or in a cell or a tag of it."""
        self.broken = self.whole
        if len(self._tables) > 1:
            self.end = self._tables[1].start
            return
        stop = _CELL_STOP.search(text, self.end) if self._is_open else None
        self.end = torn_tag_end(text, stop.start() if stop else self.end)


def _laid_out(text: str, scan: _Scan, start: int) -> int:
    """Where the first table in the longest row of a page's layout begins; -1 if it is no layout.

    Such a row is most of its table: the table lays out a page. What is before is passed over, and
    no more than half is left behind, so all is read in proportion to its length. A table with names
    of columns, or with many rows, holds data if another of its rows has columns. After a stray end
    tag, what is behind the inner table may be read once more for each, so it is no more than half.
    """
    rows = list(pairwise([*(at for at, _ in scan.rows), scan.end]))
    first, last = max(rows, key=lambda row: row[1] - row[0])
    if last - first <= max(LONGEST_ROW, (scan.end - start) // 2):
        return -1
    rows.remove((first, last))
    if (scan.rows[0][1] or len(rows) >= MOST_LAYOUT_ROWS) and any(
        len(_CELL.findall(text, at, end)) > 1 for at, end in rows
    ):
        return -1
    middle = (start + scan.end) // 2 if scan.stray >= 0 else start
    tables = [one for one in scan.inner if first <= one.start < last]
    return next((one.start for one in tables if max(one.start, one.end) >= middle), -1)


def _names_in_cells(text: str, rows: list[tuple[int, bool]], end: int) -> int:
    """Which row has the names of the columns in cells like those of the others, -1 if none has.

    It is read from the values, or is the first row in bold. Rows of two cells that are not bold may
    each have the name of their own value.
    """
    starts = [at for at, _ in rows[:LOOKED_AT]]
    bounds = [*starts, rows[LOOKED_AT][0] if len(rows) > LOOKED_AT else end]
    written = [text[a:b] for a, b in pairwise(bounds)]
    bold = [[bool(_BOLD.match(cell)) for cell in _CELL.split(row)[1:]] for row in written[:PAIR]]
    if bold[0] and all(bold[0]) and not all(bold[1]):
        return 0
    cells = [_cells(row) for row in written]
    return names_row(cells) if usual_width(cells) > PAIR else -1


def _has_two_lines(text: str, rows: list[tuple[int, bool]]) -> bool:
    """Whether the second row alone has names too, and is not the title of a group."""
    if [is_names for _, is_names in rows] != [True, True, False]:
        return False
    return len(_cells(text[rows[1][0] : rows[2][0]])) > 1


def _lean_on_spans(builder: ShapeBuilder, rows: list[str]) -> None:
    """Let the rows, which are the last units, lean on the nearest one with a cell that covers them.

    What that one leans on is shown with them.
    """
    first = len(builder.leans) - len(rows)
    open_spans: list[tuple[int, int]] = []  # the last row that is covered, and the unit that covers
    for n, row in enumerate(rows):
        while open_spans and open_spans[-1][0] < n:
            open_spans.pop()
        if open_spans:
            builder.leans[first + n] = open_spans[-1][1]
        covered = max(map(int, _ROWSPAN.findall(row)), default=1)
        if covered > 1:
            open_spans.append((n + covered - 1, first + n))


def _is_above_names(text: str, rows: list[tuple[int, bool]]) -> bool:
    """Whether the first row is a title above the names in the second."""
    (first, _), (second, is_names), (third, _) = rows
    above = [cell for cell in _cells(text[first:second]) if cell]
    return len(above) == 1 and is_names and len(_cells(text[second:third])) > 1


def _cells(row: str) -> list[str]:
    """The texts of a row's cells."""
    return [_ANY_TAG.sub("", cell).strip() for cell in _CELL.split(row)[1:]]
