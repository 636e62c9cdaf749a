"""How many answers models write at once: a place for each, and none that waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from foveate.service.problems import busy_problem


class AnswerSlots:
    """Up to `most` answers at once; `seconds` for each.

    `told` is called with the places that are taken, and all there are, whenever that changes.
    """

    name = "answering"

    def __init__(self, *, most: int, seconds: float) -> None:
        self.on_change: Callable[[int, int], None] | None = None
        self._limit = most
        self.seconds = seconds
        self.in_use = 0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """One answer more; raises a 503 problem where there is no place."""
        if self.in_use >= self._limit:
            raise busy_problem("all models are being asked; come again in a moment", after=2)
        self._change_count(1)
        try:
            yield
        finally:
            self._change_count(-1)

    def _change_count(self, places: int) -> None:
        self.in_use += places
        if self.on_change is not None:
            self.on_change(self.in_use, self._limit)
