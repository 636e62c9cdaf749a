"""What several threads bring in any order, handed to one in the order of its tasks.

Back-pressure: no task is given out too far ahead, and whoever has something for a later task waits
while too many bytes wait to be taken. Whoever has something for the task that is being taken may
always bring it, so nobody waits for ever. Knows nothing of what the bytes say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from threading import Condition

__all__ = ["OrderedTransfer", "TransferStopped"]


class TransferStopped(Exception):
    """Nobody takes anything any more."""


class OrderedTransfer:
    """`tasks` numbers to give out; at most `ahead` of them before the one that is being taken.

    `most`: bytes that may wait, beside one piece of each who brings.
    """

    def __init__(self, tasks: int, *, ahead: int, most: int) -> None:
        self._changed = Condition()
        self._tasks, self._ahead, self._most = tasks, ahead, most
        self._next = self._current = self._waiting_bytes = 0
        self._pieces: dict[int, deque[bytes]] = {}
        self._finished: set[int] = set()
        self._failure: BaseException | None = None
        self._stopped = False

    def next_number(self) -> int | None:
        """The next number to work at, once it is near enough; None where there is none."""
        with self._changed:
            while not self._stopped and self._current + self._ahead <= self._next < self._tasks:
                self._changed.wait()
            if self._stopped or self._next == self._tasks:
                return None
            self._next += 1
            return self._next - 1

    def put(self, number: int, data: bytes) -> None:
        """Something for this number; waits for room. Raises `TransferStopped`."""
        with self._changed:
            while not self._stopped and not self._has_room(number, len(data)):
                self._changed.wait()
            if self._stopped:
                raise TransferStopped
            self._pieces.setdefault(number, deque()).append(data)
            self._waiting_bytes += len(data)
            self._changed.notify_all()

    def finish(self, number: int) -> None:
        """Nothing more comes for this number."""
        with self._changed:
            self._finished.add(number)
            self._changed.notify_all()

    def fail(self, failure: BaseException) -> None:
        """The one who takes is to raise this."""
        with self._changed:
            self._failure = self._failure or failure
            self._changed.notify_all()

    def stop(self) -> None:
        """Nothing is given out or taken any more, and nobody waits."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        with self._changed:
            return self._stopped

    def iter_results(self) -> Iterator[Iterator[bytes]]:
        """For each number in order, what was brought for it; each is to be read to its end."""
        for number in range(self._tasks):
            yield self._iter_pieces(number)

    def _iter_pieces(self, number: int) -> Iterator[bytes]:
        with self._changed:
            self._current = number
            self._changed.notify_all()
        while True:
            with self._changed:
                while not self._is_ready(number):
                    self._changed.wait()
                if self._failure is not None:
                    raise self._failure
                if not self._pieces.get(number):
                    self._pieces.pop(number, None)
                    self._finished.discard(number)
                    return
                data = self._pieces[number].popleft()
                self._waiting_bytes -= len(data)
                self._changed.notify_all()
            yield data

    def _is_ready(self, number: int) -> bool:
        return bool(self._failure or self._pieces.get(number) or number in self._finished)

    def _has_room(self, number: int, size: int) -> bool:
        if self._waiting_bytes + size <= self._most:
            return True
        return number == self._current and not self._pieces.get(number)
