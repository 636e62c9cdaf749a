"""How many answers models write at once: a place for each, and none that waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foveate.service.problems import busy


class Answering:
    """Up to `most` answers at once; `seconds` for each."""

    def __init__(self, *, most: int, seconds: float) -> None:
        self._most = most
        self.seconds = seconds
        self.now = 0

    @contextmanager
    def place(self) -> Iterator[None]:
        """One answer more; raises a 503 problem where there is no place."""
        if self.now >= self._most:
            raise busy("all models are being asked; come again in a moment", after=2)
        self.now += 1
        try:
            yield
        finally:
            self.now -= 1
