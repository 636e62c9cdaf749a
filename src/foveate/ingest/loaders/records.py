"""Writes the rows of sheets and CSV files out, each with all that it cannot be read without.

`Debts; Position: Loan 3; 2024 (EUR): 204` has the title of its group (a row with a text in its
first cell alone), the names of its columns, and their units of measure (a row below the names). A
line above the names that says how all is measured stands before that: `in thousands of EUR; Debts`.
What a sheet is, is decided from its first rows. The rows of titles and of units are written, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from foveate.core.errors import BadInput
from foveate.ingest.loaders.blocks import MAX_COLUMNS, Blocks, Rows
from foveate.ingest.loaders.column_names import join_names, names_go_on
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.measures import is_measure_line, is_total_row, is_unit, is_unit_row

LOOKED_AT = 12
"""Rows from which names and units are read."""
_NUMBER = re.compile(r"[-+(]?[\d.,:/ -]*\d[\d.,:/ -]*%?\)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MAX_NAME_LENGTH = 100
_BETWEEN = "; "
_PAIR = 2

_Cells = Mapping[int, str]
"""The cells of a row that are not empty, by column."""


@dataclass(slots=True)
class _Sheet:
    """The state of a sheet. `left`: its first column; `grouped`: it has titles of groups.

    `wide`: the rows with a cell over several columns.

    `measure`: what the line above the names says of all figures.

    `names`: None until they are decided; `title`: that of the open group; `after`:
    the row behind the last one that ended a group, or began the table.
    """

    name: str = ""
    waiting: list[tuple[int, _Cells]] = field(default_factory=list)
    wide: set[int] = field(default_factory=set)
    names: dict[int, str] | None = None
    left: int = 0
    measure: str = ""
    title: str | None = None
    grouped: bool = False
    after: int = 0


@dataclass(slots=True)
class Records:
    """The text so far and a section a row; `begin_sheet`, add its rows, then `end_sheet`."""

    limits: Limits
    blocks: Blocks
    sections: Rows = field(default_factory=Rows)
    _sheet: _Sheet = field(default_factory=_Sheet)
    _rows: int = 0

    def begin_sheet(self, sheet: str) -> None:
        """A sheet begins; its name is its rows' section."""
        self._sheet = _Sheet(sheet)

    def add_row(self, row: int, cells: _Cells, *, is_wide: bool = False) -> None:
        """A row by its number in the file: its cells by column, for a row may be nearly empty.

        `is_wide`: whether one of them covers several columns, and so may be above names of these.
        """
        self._rows += 1
        self.limits.check_bound("rows", self._rows, "rows")
        if len(cells) > MAX_COLUMNS:
            raise BadInput(f"row {row} has {len(cells)} cells, more than {MAX_COLUMNS}")
        filled: dict[int, str] = {}
        for column, cell in cells.items():
            self.limits.check_bound("cell_chars", len(cell), f"characters in a cell of row {row}")
            if text := " ".join(cell.split()):
                filled[column] = text
        if not filled:
            return
        if self._sheet.names is not None:
            self._add_record(row, filled)
            return
        self._sheet.waiting.append((row, filled))
        self._sheet.wide |= {row} if is_wide else set()
        if len(self._sheet.waiting) == LOOKED_AT:
            self._begin_records()

    def end_sheet(self) -> None:
        """The sheet's end."""
        if self._sheet.names is None:
            self._begin_records()

    def _begin_records(self) -> None:
        """Decide what the first rows are, and write them."""
        sheet, rows = self._sheet, self._sheet.waiting
        sheet.waiting, sheet.names = [], {}
        above = _rows_above_names(rows)
        for row, filled in rows[:above]:
            self._write_row(row, filled)
        sheet.measure = next(filter(None, (_measure(filled) for _, filled in rows[:above])), "")
        rows = _with_joined_names(rows[above:], sheet.wide)
        if len(rows) > 1 and _is_header(rows[0][1], rows[1][1]):
            names, (first, filled) = dict(rows[0][1]), rows[1]
            rows = rows[1:]
            sheet.names, sheet.left, sheet.after = names, min(*names, *filled), first
            columns = sorted({*names, *filled})
            if is_unit_row(*([cells.get(c, "") for c in columns] for _, cells in rows)):
                self._write_row(first, filled)
                names.update(_with_units(names, filled))
                rows, sheet.after = rows[1:], first + 1
            if not _has_figures(rows, sheet.left):
                sheet.after += 1  # a row with gaps, and no title, unless it is behind an empty row
        for row, filled in rows:
            self._add_record(row, filled)

    def _add_record(self, row: int, filled: _Cells) -> None:
        """A row below the names: the title of a group, the total of one, or one of its rows."""
        sheet = self._sheet
        if _is_title(filled, sheet.names or {}, sheet.left) and (
            sheet.grouped or row >= sheet.after
        ):
            sheet.title = None
            self._write_row(row, filled)
            (sheet.title,) = filled.values()
            sheet.grouped = True
            return
        self._write_row(row, filled)
        sheet.after = row + _PAIR  # behind an empty row
        if is_total_row(filled[min(filled)]):
            sheet.title, sheet.after = None, row + 1

    def _write_row(self, row: int, filled: _Cells) -> None:
        names, title, measure = self._sheet.names or {}, self._sheet.title, self._sheet.measure
        values = [f"{names.get(i) or column_letters(i)}: {cell}" for i, cell in filled.items()]
        leads = [measure] if measure else []
        leads += [] if title is None else [title]
        start = self.blocks.add_paragraph(_BETWEEN.join([*leads, *values]))
        self.sections.add(start, self.blocks.size, row, self._sheet.name)


def column_letters(column: int) -> str:
    """The name of a column, counted from 0, as spreadsheets write it.

    >>> column_letters(0), column_letters(25), column_letters(26), column_letters(16383)
    ('A', 'Z', 'AA', 'XFD')
    """
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _rows_above_names(rows: Sequence[tuple[int, _Cells]]) -> int:
    """How many rows of one cell are above a wider table: its title, who made it, and when.

    Above two columns, which may be a list of values, only where one says how those are measured.
    """
    widest = max((len(filled) for _, filled in rows), default=0)
    measures = [len(filled) < widest and bool(_measure(filled)) for _, filled in rows]
    wide = (n for n, (_, filled) in enumerate(rows) if len(filled) > 1 and not measures[n])
    first = next(wide, 0)
    is_table = any(measures[:first]) or (first and len(rows[first][1]) > _PAIR)
    return first if is_table else 0


def _with_joined_names(rows: list[tuple[int, _Cells]], wide: set[int]) -> list[tuple[int, _Cells]]:
    """The rows, of which the first has the names of all lines, such as `2024 Q1`, if these name.

    `wide`: the rows with a cell over several columns.
    """
    found = rows
    while len(found) > 2 and found[0][0] in wide:
        (_, upper), (row, lower) = found[:2]
        columns = range(min(*upper, *lower), max(*upper, *lower) + 1)
        lines = [[cells.get(column, "") for column in columns] for cells in (upper, lower)]
        if not names_go_on(*lines):
            break
        joined = map(join_names, *lines)
        names = {column: name for column, name in zip(columns, joined, strict=True) if name}
        found = [(row, names), *found[2:]]
    return found if len(found) > 1 and _is_header(found[0][1], found[1][1]) else rows


def _measure(filled: _Cells) -> str:
    """What the cells say of how all figures are measured; empty where they say anything else."""
    text = ", ".join(filled.values())
    return text if is_measure_line(text) else ""


def _is_header(names: _Cells, following: _Cells) -> bool:
    """Whether this row has names; years are some if those below them are none."""
    texts = list(names.values())
    if any(len(name) > _MAX_NAME_LENGTH for name in texts) or len(set(texts)) < len(texts):
        return False
    numbers = {column for column, name in names.items() if _NUMBER.fullmatch(name)}
    if len(numbers) == len(names) and not min(following) < min(names):
        return False
    years = all(_YEAR.fullmatch(names[column]) for column in numbers)
    return years and not any(_YEAR.fullmatch(following.get(column, "")) for column in numbers)


def _with_units(names: _Cells, filled: _Cells) -> Iterator[tuple[int, str]]:
    for column, text in filled.items():
        if is_unit(text):
            unit = text.strip("()[] *")
            yield column, f"{names.get(column) or column_letters(column)} ({unit})"


def _has_figures(rows: Sequence[tuple[int, _Cells]], left: int) -> bool:
    """Whether most cells behind the first column are numbers, as in tables that have groups."""
    values = [text for _, filled in rows for column, text in filled.items() if column > left]
    return 2 * sum(_NUMBER.fullmatch(text) is not None for text in values) > len(values)


def _is_title(filled: _Cells, names: _Cells, left: int) -> bool:
    """Whether the first cell alone says something, in a table of three columns or more."""
    if len(filled) != 1 or len({left, *names}) <= _PAIR:
        return False
    ((column, text),) = filled.items()
    if column > left or len(text) > _MAX_NAME_LENGTH or _NUMBER.fullmatch(text):
        return False
    return not is_total_row(text)
