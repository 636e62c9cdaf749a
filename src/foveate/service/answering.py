"""How many answers models write at once: a place for each, and none that waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from foveate.service.problems import busy


class Answering:
    """Up to `most` answers at once; `seconds` for each.

    `told` is called with the places that are taken, and all there are, whenever that changes.
    """

    name = "answering"

    def __init__(self, *, most: int, seconds: float) -> None:
        self.told: Callable[[int, int], None] | None = None
        self._most = most
        self.seconds = seconds
        self.now = 0

    @contextmanager
    def place(self) -> Iterator[None]:
        """One answer more; raises a 503 problem where there is no place."""
        if self.now >= self._most:
            raise busy("all models are being asked; come again in a moment", after=2)
        self._take(1)
        try:
            yield
        finally:
            self._take(-1)

    def _take(self, places: int) -> None:
        self.now += places
        if self.told is not None:
            self.told(self.now, self._most)
