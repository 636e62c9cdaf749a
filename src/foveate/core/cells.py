"""Cells of a spreadsheet: where each begins in the text of a chunk of rows, and its address.

They are metadata of the chunk, so every store, bundle and hash has them: `0:A7 13:B7` says that the
text from character 13 on is that of cell B7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

TABLE_CELLS = "table_cells"
"""The key of a chunk's metadata."""
_ENTRY = re.compile(r"(?<!\S)(\d{1,9}):([A-Z]{1,3}\d{1,9})(?!\S)")
_ADDRESS = re.compile(r"([A-Z]*)(\d*)")
_BETWEEN = "; \n"  # cells, and rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a table by its address, column and row; `span`: its name and value in the text."""

    address: str
    span: tuple[int, int]

    @property
    def row(self) -> int:
        """The number of its row."""
        return int(_split(self.address)[1])


def cells_of(text: str, metadata: Mapping[str, Any], offset: int = 0) -> Iterator[Cell]:
    """The cells of a chunk's text, which begins at `offset`; none where none are known.

    >>> text = "part: valve; price: 3.20"
    >>> cells = cells_of(text, {TABLE_CELLS: "0:A7 13:B7"})
    >>> [(cell.address, text[slice(*cell.span)]) for cell in cells]
    [('A7', 'part: valve'), ('B7', 'price: 3.20')]
    """
    known = metadata.get(TABLE_CELLS)
    entries = _ENTRY.findall(known) if isinstance(known, str) else ()
    found = [(int(start), address) for start, address in entries]
    for (start, address), (end, _) in pairwise([*found, (len(text), "")]):
        size = len(text[start:end].rstrip(_BETWEEN))
        if size:
            yield Cell(address=address, span=(offset + start, offset + start + size))


def format_cells(cells: Sequence[Cell]) -> str:
    """The addresses, those that are next to one another in a row as one range.

    >>> format_cells([Cell(address=name, span=(0, 1)) for name in ("A7", "B7", "D7", "AA8")])
    'A7:B7, D7, AA8'
    """
    runs: list[tuple[str, str]] = []
    for cell in cells:
        if runs and _is_next(runs[-1][1], cell.address):
            runs[-1] = (runs[-1][0], cell.address)
        else:
            runs.append((cell.address, cell.address))
    return ", ".join(first if first == last else f"{first}:{last}" for first, last in runs)


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


def column_number(letters: str) -> int:
    """The place of a column by its name, counted from 0; -1 for no name.

    >>> column_number("A"), column_number("XFD")
    (0, 16383)
    """
    column = 0
    for char in letters:
        column = 26 * column + ord(char) - ord("A") + 1
    return column - 1


def _is_next(address: str, other: str) -> bool:
    """Whether the other cell stands to the right of this one."""
    (letters, row), (more, same) = _split(address), _split(other)
    return row == same and column_number(more) == column_number(letters) + 1


def _split(address: str) -> tuple[str, str]:
    """Column and row of an address; empty where it is none."""
    found = _ADDRESS.fullmatch(address)
    return (found[1], found[2]) if found else ("", "")
