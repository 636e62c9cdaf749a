"""Calls to the outside side by side: so many at once, each with a time limit, and all with one.

A call runs on a thread of its own. One that does not keep time is left behind: its answer is not
waited for, and it keeps its place until it ends, so that never more than `at_once` are open.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")


class Late(Exception):
    """No answer in time."""


class Pending(Generic[T]):
    """The calls that are open. `seconds`: for one call; `within`: for all, from now on."""

    def __init__(self, *, at_once: int, seconds: float, within: float) -> None:
        self._at_once, self._seconds = at_once, seconds
        self._end = monotonic() + within
        self._ended: SimpleQueue[tuple[int, T | Exception]] = SimpleQueue()
        self._due: dict[int, float] = {}
        self._open = 0
        self._begun = 0

    @property
    def waiting(self) -> bool:
        """Whether an answer may still come."""
        return bool(self._due)

    @property
    def over(self) -> bool:
        """Whether the time for all is over."""
        return monotonic() >= self._end

    @property
    def free(self) -> bool:
        """Whether another call may begin."""
        return self._open < self._at_once and not self.over

    def begin(self, call: Callable[[float], T]) -> int:
        """Begin a call, which is told how many seconds it has; the number that it goes by."""
        number = self._begun = self._begun + 1
        now = monotonic()
        seconds = max(min(self._seconds, self._end - now), 0.001)

        def ask() -> None:
            try:
                self._ended.put((number, call(seconds)))
            except Exception as error:  # noqa: BLE001  # it is handed to who waits
                self._ended.put((number, error))

        self._due[number] = now + seconds
        self._open += 1
        Thread(target=copy_context().run, args=(ask,), daemon=True).start()
        return number

    def next(self) -> tuple[int, T | Exception] | None:
        """The next call that ends, or is `Late`; None where only those left behind are open.

        In that case a place may have become free, or the time for all is over.
        """
        while True:
            number, due = min(self._due.items(), key=lambda one: one[1], default=(0, self._end))
            try:
                ended = self._ended.get(timeout=max(due - monotonic(), 0))
            except Empty:
                if number:
                    del self._due[number]
                    return number, Late(f"no answer within {self._seconds:g} s")
                return None
            self._open -= 1
            if self._due.pop(ended[0], None) is not None:
                return ended
            if not self._due:
                return None
