"""The units of a text that its next chunks are made of, and what stretches of them weigh."""

from __future__ import annotations

from collections.abc import Iterator

from foveate.ingest.units import Unit

__all__ = ["Window"]


class Window:
    """Units by their number, as they come, and how much a stretch of them weighs, about.

    Those that no chunk needs any more are let go (`drop`).
    """

    def __init__(self, coming: Iterator[Unit]) -> None:
        self._coming = coming
        self._held: list[Unit] = []
        self._sums = [0]
        self._dropped = 0

    def __getitem__(self, at: int) -> Unit:
        return self._held[at - self._dropped]

    def has(self, at: int) -> bool:
        """Whether there is such a unit."""
        while at - self._dropped >= len(self._held):
            unit = next(self._coming, None)
            if unit is None:
                return False
            self._held.append(unit)
            self._sums.append(self._sums[-1] + unit.tokens + unit.gap)
        return True

    def within(self, first: int, last: int) -> list[Unit]:
        """Those of a stretch."""
        return self._held[first - self._dropped : last - self._dropped]

    def of(self, first: int, last: int) -> int:
        """What a stretch weighs."""
        gap = self[first].gap if first < last else 0
        return self._sums[last - self._dropped] - self._sums[first - self._dropped] - gap

    def of_block(self, first: int, most: int) -> int:
        """What the block from there on weighs, or more than `most`."""
        end = first + 1
        while self.of(first, end) <= most and self.has(end):
            if self[end].block != self[first].block:
                break
            end += 1
        return self.of(first, end)

    def of_row(self, first: int, most: int) -> int:
        """What the row from there on weighs, or at least `most`."""
        end = first + 1
        while self.of(first, end) < most and self.has(end) and not self[end].opens:
            end += 1
        return self.of(first, end)

    def of_row_before(self, at: int, most: int) -> int:
        """What the row that ends there weighs, or at least `most`."""
        first = at - 1
        while self.of(first, at) < most and first > self._dropped and not self[first].opens:
            first -= 1
        return self.of(first, at)

    def drop(self, before: int) -> None:
        """Let go of those before that one."""
        del self._held[: before - self._dropped]
        del self._sums[: before - self._dropped]
        self._dropped = before
