"""Writes the rows of sheets and CSV files out, each with all that it cannot be read without.

`Debts; Position: Loan 3; 2024 (EUR): 204` has the title of its group (a row with a text in its
first cell alone), the names of its columns, and their units of measure (a row below the names). A
line above the names that says how all is measured stands before that: `in thousands of EUR; Debts`.
What a table is, is decided from its first rows. The rows of titles and of units are written, too.

An empty row ends a group. What follows it is read as a table of its own if it has names, and with
the names so far if it has figures where the rows before had some; else, nothing says what its
columns are, and they have letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from foveate.core.errors import BadInput
from foveate.ingest.loaders.blocks import MAX_COLUMNS, Blocks, Rows
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.measures import is_total_row, is_unit, is_unit_row
from foveate.ingest.loaders.table_heads import (
    MAX_NAME_LENGTH,
    Cells,
    Row,
    contrast,
    end_of_part,
    figure_columns,
    has_figures,
    has_own_measure,
    is_blank_mark,
    is_figure,
    is_header,
    is_table,
    leading_titles,
    measure,
    number_names,
    rows_above_names,
    with_joined_names,
)

LOOKED_AT = 12
"""Rows from which names and units are read."""
_BETWEEN = "; "
_PAIR = 2


@dataclass(slots=True)
class _Sheet:
    """The state of a sheet, and of its open table.

    `last`: the row that was read last; `waiting`: rows that are still to be decided on; `wide`:
    those with a cell over several columns.

    `names`: None until they are decided; `head`: the row that had them; `left`: the first column;
    `columns`, `figures`, `values`: what the first rows below the names have; `measure`: what the
    line above the names says of all figures.

    `title`: that of the open group; `grouped`: there are some; `after`: the row behind the last one
    that ended a group, or began the table.
    """

    name: str = ""
    last: int = 0
    waiting: list[Row] = field(default_factory=list)
    wide: set[int] = field(default_factory=set)
    names: dict[int, str] | None = None
    head: Cells = field(default_factory=dict)
    left: int = 0
    columns: frozenset[int] = frozenset()
    figures: frozenset[int] = frozenset()
    values: frozenset[str] = frozenset()
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

    def add_row(self, row: int, cells: Cells, *, is_wide: bool = False) -> None:
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
        sheet = self._sheet
        if is_wide:
            sheet.wide.add(row)
        if sheet.names is not None and not sheet.waiting and not self._may_begin(row, filled):
            self._add_record(row, filled)
            return
        sheet.waiting.append((row, filled))
        if len(sheet.waiting) == LOOKED_AT:
            self._read_waiting()

    def end_sheet(self) -> None:
        """The sheet's end."""
        while self._sheet.waiting:
            self._read_waiting()

    def _may_begin(self, row: int, filled: Cells) -> bool:
        """Whether a table may begin with the row: behind an empty one, as a title, or again."""
        sheet = self._sheet
        is_title = len(filled) == 1 and len(sheet.columns) > 1
        return row > sheet.last + 1 or is_title or (len(filled) > 1 and filled == sheet.head)

    def _write_part(self, rows: Sequence[Row]) -> None:
        """Write the first row, and those behind it with which no table may begin."""
        for n, (row, filled) in enumerate(rows):
            if n and self._may_begin(row, filled):
                self._sheet.waiting = [*rows[n:]]
                return
            self._add_record(row, filled)
        self._sheet.waiting = []

    def _read_waiting(self) -> None:
        """Decide what the waiting rows are, and write those up to the next empty one."""
        sheet, rows = self._sheet, self._sheet.waiting
        if sheet.names is None or self._begins_table(rows):
            self._begin_table(rows)
            return
        part = rows[: end_of_part(rows)]
        if part[0][0] > sheet.last + 1:
            sheet.title = None
            if len(sheet.columns) > 1 and all(len(filled) == 1 for _, filled in part):
                self._write_notes(part)
                sheet.waiting = rows[len(part) :]
                return
            if self._is_of_no_table(part):
                sheet.names, sheet.head, sheet.measure, sheet.grouped = {}, {}, "", False
                self._look_at(part)
        self._write_part(rows)

    def _begins_table(self, rows: Sequence[Row]) -> bool:
        """Whether there are names in the first row of several cells that are not those so far."""
        sheet = self._sheet
        lead = leading_titles(rows)
        found = with_joined_names(rows[lead:], sheet.wide)
        if len(found) < _PAIR:
            return False
        (head, following) = found[0][1], found[1][1]
        if not is_header(head, following) or not {*following} - {*head} <= {min(following)}:
            return False
        if head == sheet.head:
            return len(head) > 1 and following != head
        if len(head) == _PAIR and not is_table(rows[lead:]):
            return False
        if not {*head} <= sheet.columns:
            return True
        changed = (sheet.figures & {*head}) | contrast(head, following)
        is_small, was_small = (
            any(name[0].islower() for name in row.values()) for row in (head, sheet.head)
        )
        if len(changed) == 1 and is_small and not was_small:
            return False  # `sold out` is no name beside `Price`
        return bool(changed)

    def _is_of_no_table(self, part: Sequence[Row]) -> bool:
        """Whether the rows behind an empty one are not of the table before, or may not be."""
        sheet = self._sheet
        rows = part[leading_titles(part) :]
        first = rows[0][1]
        texts = {column for column in sheet.figures & {*first} if not is_figure(first[column])}
        texts -= {column for column in texts if is_blank_mark(first[column])}
        if not {*first} <= sheet.columns or texts == sheet.figures & {*first} != set():
            return True
        if sheet.figures & {*first} or len(rows) < _PAIR or not sheet.head:
            return False
        may_be_names = not any(
            any(c.isdigit() or c == "@" for c in text) for text in first.values()
        )
        is_known = any(text in sheet.values for _, filled in rows for text in filled.values())
        return may_be_names and not is_known and is_header(first, rows[1][1])

    def _begin_table(self, rows: list[Row]) -> None:
        """Read the names, what is above them, and the rows below up to an empty one."""
        sheet = self._sheet
        sheet.names, sheet.head, sheet.title, sheet.grouped = {}, {}, None, False
        above = rows_above_names(rows)
        self._write_notes(rows[:above])
        sheet.measure = next(filter(None, (measure(filled) for _, filled in rows[:above])), "")
        rows = with_joined_names(rows[above:], sheet.wide)
        if len(rows) > 1 and is_header(rows[0][1], rows[1][1]):
            sheet.last, sheet.head = rows[0]
            names, (first, filled) = number_names(sheet.head), rows[1]
            rows = rows[1:]
            sheet.names, sheet.left, sheet.after = names, min(*names, *filled), first
            columns = sorted({*names, *filled})
            if is_unit_row(*([cells.get(c, "") for c in columns] for _, cells in rows)):
                self._write_row(first, filled)
                names.update(_with_units(names, filled))
                rows, sheet.after = rows[1:], first + 1
        part = rows[: end_of_part(rows)]
        if sheet.names and not has_figures(part, sheet.left):
            sheet.after += 1  # a row with gaps, and no title, unless it is behind an empty row
        self._look_at(part)
        self._write_part(rows)

    def _look_at(self, rows: Sequence[Row]) -> None:
        """Note what the first rows of a table have, so that rows of another are found out."""
        sheet = self._sheet
        sheet.columns = frozenset({*(sheet.names or {})}.union(*(filled for _, filled in rows)))
        sheet.figures = frozenset(figure_columns([filled for _, filled in rows]))
        sheet.values = frozenset(text for _, filled in rows for text in filled.values())

    def _add_record(self, row: int, filled: Cells) -> None:
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

    def _write_notes(self, rows: Sequence[Row]) -> None:
        """Rows that are of no table; they have no names."""
        sheet = self._sheet
        names, sheet.names, said, sheet.measure = sheet.names, {}, sheet.measure, ""
        for row, filled in rows:
            self._write_row(row, filled)
        sheet.names, sheet.measure = names, said

    def _write_row(self, row: int, filled: Cells) -> None:
        sheet = self._sheet
        names, sheet.last = sheet.names or {}, row
        values = [f"{names.get(i) or column_letters(i)}: {cell}" for i, cell in filled.items()]
        leads = [sheet.measure] if sheet.measure and not has_own_measure(filled) else []
        leads += [] if sheet.title is None else [sheet.title]
        start = self.blocks.add_paragraph(_BETWEEN.join([*leads, *values]))
        self.sections.add(start, self.blocks.size, row, sheet.name)


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


def _with_units(names: Cells, filled: Cells) -> Iterator[tuple[int, str]]:
    for column, text in filled.items():
        if is_unit(text):
            unit = text.strip("()[] *")
            yield column, f"{names.get(column) or column_letters(column)} ({unit})"


def _is_title(filled: Cells, names: Cells, left: int) -> bool:
    """Whether the first cell alone says something, in a table of three columns or more."""
    if len(filled) != 1 or len({left, *names}) <= _PAIR:
        return False
    ((column, text),) = filled.items()
    if column > left or len(text) > MAX_NAME_LENGTH or is_figure(text):
        return False
    return not is_total_row(text)
