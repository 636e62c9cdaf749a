"""What readers hold: the state of all that they may read, and figures of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from foveate.core.state import EMPTY_STATE, update_state

DOCUMENTS, CHUNKS, WORDS, SCAN = range(4)
"""Figures; the last two are a server store's alone."""

R = TypeVar("R", bound=Hashable)


class Totals(Generic[R]):
    """States and figures by reader; `width`: how many figures."""

    def __init__(self, width: int = 2) -> None:
        self.width = width
        self.states: dict[R, bytes] = {}
        self.figures: dict[R, list[int]] = {}

    def of(self, reader: R) -> tuple[bytes, list[int]]:
        """The state and the figures of a reader, who may hold nothing."""
        return self.states.get(reader, EMPTY_STATE), self.figures.get(reader, [0] * self.width)

    def apply(self, members: Iterable[tuple[R, bytes]], figure: int, sign: int = 1) -> None:
        """Members by reader that come (`sign` 1) or go (-1), each of which counts one."""
        by_reader: dict[R, list[bytes]] = {}
        for reader, encoded in members:
            by_reader.setdefault(reader, []).append(encoded)
        for reader, some in by_reader.items():
            state, _ = self.of(reader)
            way = {"added": some} if sign > 0 else {"removed": some}
            self.states[reader] = update_state(state, **way)
            self.count(reader, figure, sign * len(some))

    def count(self, reader: R, figure: int, more: int) -> None:
        """Add to one figure of a reader."""
        self.figures.setdefault(reader, [0] * self.width)[figure] += more
