"""What an engine is, and the two that need nothing: this process, and a pool of processes."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from foveate.core.errors import OutsideFailure
from foveate.fleet.orphans import end_with_parent

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

__all__ = ["AHEAD", "BUNCH", "Engine", "Here", "Lost", "Pool", "pool"]

A = TypeVar("A")
B = TypeVar("B")

BUNCH = 16
"""Of what takes some ten milliseconds each: handing it to another process costs one or two."""

AHEAD = 2
"""Values under way for each worker: one at work, and one that waits for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """Stands where a result should: no worker could finish this value, and why."""

    reason: str


class Engine(Protocol):
    """Maps a function over values."""

    @property
    def workers(self) -> int:
        """How many values are worked on at the same time."""

    @property
    def bunch(self) -> int:
        """How many small things make one value worth handing over."""

    def mapped(
        self, function: Callable[[A], B], items: Iterable[A]
    ) -> Generator[tuple[A, B | Lost], None, None]:
        """Each value with what the function made of it, in the order of the values.

        The function stands at the top of a module and keeps nothing from call to call. Values are
        taken only as workers are free for them, so that memory does not grow with their number.
        """


class Here:
    """One after the other, in this process."""

    workers = 1
    bunch = 1

    def mapped(
        self, function: Callable[[A], B], items: Iterable[A]
    ) -> Generator[tuple[A, B | Lost], None, None]:
        """Each result before the next value is taken."""
        for item in items:
            yield item, function(item)


class Pool:
    """Processes of this machine; `pool` makes one."""

    bunch = BUNCH

    def __init__(self, executor: ProcessPoolExecutor, workers: int) -> None:
        self.workers = workers
        self._executor = executor

    def mapped(
        self, function: Callable[[A], B], items: Iterable[A]
    ) -> Generator[tuple[A, B | Lost], None, None]:
        """In order. Raises `OutsideFailure` where a process died: a pool does not say at what."""
        waiting: deque[tuple[A, Future[B]]] = deque()
        for item in items:
            waiting.append((item, self._submitted(function, item)))
            if len(waiting) >= AHEAD * self.workers:
                first, found = _oldest(waiting)
                yield first, found
        while waiting:
            first, found = _oldest(waiting)
            yield first, found

    def _submitted(self, function: Callable[[A], B], item: A) -> Future[B]:
        from concurrent.futures.process import BrokenProcessPool

        try:
            return self._executor.submit(function, item)
        except BrokenProcessPool:
            raise _died() from None


@contextmanager
def pool(workers: int) -> Iterator[Pool]:
    """A pool of that many processes; what was not begun when it is left is not begun any more."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    executor = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_as_worker
    )
    try:
        yield Pool(executor, workers)
    finally:
        executor.shutdown(cancel_futures=True)


def _as_worker() -> None:
    """Ctrl-C reaches every process of a terminal; whoever started the pool answers it."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _oldest(waiting: deque[tuple[A, Future[B]]]) -> tuple[A, B]:
    from concurrent.futures.process import BrokenProcessPool

    item, future = waiting.popleft()
    try:
        return item, future.result()
    except BrokenProcessPool:
        raise _died() from None


def _died() -> OutsideFailure:
    return OutsideFailure(
        "a worker process died (out of memory, or a crash in a plugin); run again with one worker "
        "to see where, or with --engine ray, which tries again and goes on with the rest"
    )
