"""Concurrent calls: so many at once, each with a time limit, and one limit for all.

A call runs on its own thread. One that is late is abandoned and keeps its place until it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Generic, TypeVar

from foveate.core.errors import FoveateError

T = TypeVar("T")


class CallTimeout(Exception):
    """No answer in time."""


def failure_reason(error: Exception) -> str:
    """Our own words for a failure; of others' errors the kind, for messages may quote anything."""
    own = isinstance(error, CallTimeout | FoveateError)
    return str(error) if own else type(error).__name__


class BoundedCalls(Generic[T]):
    """The calls that are open. `seconds`: for one call; `within`: for all, from now on."""

    def __init__(self, *, at_once: int, seconds: float, within: float) -> None:
        self._at_once, self._seconds = at_once, seconds
        self._deadline = monotonic() + within
        self._results: SimpleQueue[tuple[int, T | Exception]] = SimpleQueue()
        self._deadlines: dict[int, float] = {}
        self._open = 0
        self._started = 0

    @property
    def is_waiting(self) -> bool:
        """Whether an answer may still come."""
        return bool(self._deadlines)

    @property
    def is_expired(self) -> bool:
        """Whether the time for all is over."""
        return monotonic() >= self._deadline

    @property
    def has_capacity(self) -> bool:
        """Whether another call may begin."""
        return self._open < self._at_once and not self.is_expired

    def start(self, call: Callable[[float], T]) -> int:
        """Begin a call, which is told how many seconds it has; the number that it goes by."""
        number = self._started = self._started + 1
        now = monotonic()
        seconds = max(min(self._seconds, self._deadline - now), 0.001)

        def ask() -> None:
            try:
                self._results.put((number, call(seconds)))
            except Exception as error:  # noqa: BLE001  # it is handed to who waits
                self._results.put((number, error))

        self._deadlines[number] = now + seconds
        self._open += 1
        Thread(target=copy_context().run, args=(ask,), daemon=True).start()
        return number

    def next_result(self) -> tuple[int, T | Exception] | None:
        """The next call that ends or times out; None if only abandoned ones are open."""
        while True:
            number, due = min(
                self._deadlines.items(), key=lambda one: one[1], default=(0, self._deadline)
            )
            try:
                ended = self._results.get(timeout=max(due - monotonic(), 0))
            except Empty:
                if number:
                    del self._deadlines[number]
                    return number, CallTimeout(f"no answer within {self._seconds:g} s")
                return None
            self._open -= 1
            if self._deadlines.pop(ended[0], None) is not None:
                return ended
            if not self._deadlines:
                return None
