"""Rows as records: one line a row, every value with its column's name. Knows no file format.

The first row that says anything names the columns, where all it holds are different texts and
another row follows; otherwise columns are called by their letters. So a row can be found and read
on its own, and its number is its section's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from foveate.core.errors import BadInput
from foveate.ingest.loaders.blocks import Blocks
from foveate.ingest.loaders.limits import Limits
from foveate.ingest.loaders.rows import Rows

__all__ = ["Records", "column_letters"]

_COLUMNS = 16_384
_NUMBER = re.compile(r"[-+(]?[\d.,:/ -]*\d[\d.,:/ -]*%?\)?")
_MAX_NAME_LENGTH = 100


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
        pairs = (
            (names[i] if i < len(names) and names[i] else column_letters(i), cell)
            for i, cell in enumerate(said)
            if cell
        )
        start = self.blocks.add_paragraph("; ".join(f"{name}: {cell}" for name, cell in pairs))
        self.sections.add(start, self.blocks.size, row, self._sheet)


def _is_header(said: list[str]) -> bool:
    names = [name for name in said if name]
    if any(len(name) > _MAX_NAME_LENGTH or _NUMBER.fullmatch(name) for name in names):
        return False
    return len(set(names)) == len(names)


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
