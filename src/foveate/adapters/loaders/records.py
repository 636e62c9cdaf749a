"""Rows as records: one line a row, every value with its column's name. Knows no file format.

The first row that says anything names the columns, where all it holds are different texts and
another row follows; otherwise columns are called by their letters. So a row can be found and read
on its own, and its number is its section's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from foveate.adapters.loaders.blocks import Blocks
from foveate.adapters.loaders.limits import Limits
from foveate.core.errors import BadInput
from foveate.ports import Section

__all__ = ["Records", "letters"]

_COLUMNS = 16_384
_NUMBER = re.compile(r"[-+(]?[\d.,:/ -]*\d[\d.,:/ -]*%?\)?")
_LONGEST_NAME = 100


@dataclass(slots=True)
class Records:
    """The text so far and a section a row; `begin` a sheet, `take` its rows, then `end` it."""

    limits: Limits
    blocks: Blocks
    sections: list[Section] = field(default_factory=list)
    _sheet: str = ""
    _names: list[str] | None = None
    _first: tuple[int, list[str]] | None = None
    _rows: int = 0

    def begin(self, sheet: str) -> None:
        """A sheet begins; its name is its rows' section."""
        self._sheet, self._names, self._first = sheet, None, None

    def take(self, row: int, cells: list[str]) -> None:
        """A row by its number in the file."""
        self._rows += 1
        self.limits.refuse_over("rows", self._rows, "rows")
        if len(cells) > _COLUMNS:
            raise BadInput(f"row {row} has {len(cells)} cells, more than {_COLUMNS}")
        for cell in cells:
            self.limits.refuse_over("cell_chars", len(cell), f"characters in a cell of row {row}")
        said = [" ".join(cell.split()) for cell in cells]
        if not any(said):
            return
        if self._names is None and self._first is None:
            self._first = (row, said)
            return
        self._settle(follows=True)
        self._put(row, said)

    def end(self) -> None:
        """The sheet's end."""
        self._settle(follows=False)

    def _settle(self, *, follows: bool) -> None:
        """Decide what the first row is, once it is known whether another follows."""
        if self._names is not None or self._first is None:
            return
        row, said = self._first
        heads = follows and _names_columns(said)
        self._names = said if heads else []
        if not heads:
            self._put(row, said)

    def _put(self, row: int, said: list[str]) -> None:
        names = self._names or []
        pairs = (
            (names[i] if i < len(names) and names[i] else letters(i), cell)
            for i, cell in enumerate(said)
            if cell
        )
        start = self.blocks.paragraph("; ".join(f"{name}: {cell}" for name, cell in pairs))
        section = Section(start=start, end=self.blocks.size, path=self._sheet, row=row)
        self.sections.append(section)


def _names_columns(said: list[str]) -> bool:
    names = [name for name in said if name]
    if any(len(name) > _LONGEST_NAME or _NUMBER.fullmatch(name) for name in names):
        return False
    return len(set(names)) == len(names)


def letters(column: int) -> str:
    """The name of a column, counted from 0, as spreadsheets write it.

    >>> letters(0), letters(25), letters(26), letters(16383)
    ('A', 'Z', 'AA', 'XFD')
    """
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name
