"""The sections of a table: one a row, kept as columns of numbers, for a file may have a million."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from foveate.ports import Section

__all__ = ["Rows"]

_COLUMNS = 4


class Rows(Sequence[Section]):
    """Sections of rows in order, made when they are looked at; equal to a tuple of the same.

    `columns`: where rows start, where they end, their numbers, and the places of their sheets'
    names in `names`.
    """

    def __init__(
        self, columns: Iterable[Sequence[int]] = ((), (), (), ()), names: Iterable[str] = ()
    ) -> None:
        self.columns = tuple(array("q", column) for column in columns)
        self.names = list(names)
        if len(self.columns) != _COLUMNS or len(set(map(len, self.columns))) > 1:
            raise ValueError(f"rows need {_COLUMNS} columns of one length")

    def add(self, start: int, end: int, row: int, name: str) -> None:
        """One more row, of the sheet of that name."""
        if not self.names or self.names[-1] != name:
            self.names.append(name)
        for column, value in zip(self.columns, (start, end, row, len(self.names) - 1), strict=True):
            column.append(value)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, at: Any) -> Any:
        """The section at a place, or those of a slice."""
        if isinstance(at, slice):
            return tuple(self[number] for number in range(len(self))[at])
        start, end, row, sheet = (column[at] for column in self.columns)
        return Section(start=start, end=end, path=self.names[sheet], row=row)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # it grows
