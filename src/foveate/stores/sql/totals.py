"""The audiences that a write touches: their states, and how much they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foveate.core.state import update_state

DOCUMENTS, CHUNKS, WORDS, SCAN = range(4)
"""Figures of an audience; the last two are a server store's alone."""


class AudienceTotals:
    """Audiences by row id. A row is id, principals, state and figures."""

    def __init__(self, rows: Iterable[Sequence[Any]] = ()) -> None:
        self.ids: dict[str, int] = {}
        self._states: dict[int, bytes] = {}
        self._figures: dict[int, list[int]] = {}
        for row in rows:
            self.add(row)

    def __contains__(self, number: int) -> bool:
        return number in self._states

    def add(self, row: Sequence[Any]) -> None:
        """Take in an audience as it is stored."""
        number, principals, state, *figures = row
        self.ids[principals] = number
        self._states[number] = state
        self._figures[number] = [int(figure) for figure in figures]

    def apply(self, members: Iterable[tuple[int, bytes]], figure: int, sign: int) -> None:
        """Members by audience that come (`sign` 1) or go (-1), each of which counts one."""
        by_audience: dict[int, list[bytes]] = {}
        for audience, encoded in members:
            by_audience.setdefault(audience, []).append(encoded)
        for audience, encoded_members in by_audience.items():
            way = {"added": encoded_members} if sign > 0 else {"removed": encoded_members}
            self._states[audience] = update_state(self._states[audience], **way)
            self.count(audience, figure, sign * len(encoded_members))

    def count(self, audience: int, figure: int, more: int) -> None:
        """Add to one figure of an audience."""
        self._figures[audience][figure] += more

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """All audiences as they are now."""
        for principals, number in self.ids.items():
            yield (number, principals, self._states[number], *self._figures[number])
