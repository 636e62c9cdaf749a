"""The engine protocol, and the engines of this process and of a pool of processes."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from foveate.core.errors import ExternalError

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


A = TypeVar("A")
B = TypeVar("B")

BATCH_SIZE = 16
"""Of what takes some ten milliseconds each: handing it to another process costs one or two."""

TASKS_PER_WORKER = 2
"""Values under way for each worker: one at work, and one that waits for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTask:
    """The result of a value that no worker could finish."""

    reason: str


class Engine(Protocol):
    """Maps a function over values."""

    @property
    def workers(self) -> int:
        """How many values are worked on at the same time."""

    @property
    def batch_size(self) -> int:
        """How many small things make one value worth handing over."""

    def map_values(
        self, function: Callable[[A], B], items: Iterable[A]
    ) -> Generator[tuple[A, B | FailedTask], None, None]:
        """Each value with the function's result, in the order of the values.

        The function is at the top of a module and keeps no state. Values are read only as workers
        are free, so memory does not grow with their number.
        """


class SequentialEngine:
    """One after the other, in this process."""

    workers = 1
    batch_size = 1

    def map_values(
        self, function: Callable[[A], B], items: Iterable[A]
    ) -> Generator[tuple[A, B | FailedTask], None, None]:
        """Each result before the next value is taken."""
        for item in items:
            yield item, function(item)


class ProcessPoolEngine:
    """Processes of this machine; `pool` makes one."""

    batch_size = BATCH_SIZE

    def __init__(self, executor: ProcessPoolExecutor, workers: int) -> None:
        self.workers = workers
        self._executor = executor

    def map_values(
        self, function: Callable[[A], B], items: Iterable[A]
    ) -> Generator[tuple[A, B | FailedTask], None, None]:
        """In order. Raises `ExternalError` if a process dies: a pool does not say at what."""
        from concurrent.futures.process import BrokenProcessPool

        waiting: deque[tuple[A, Future[B]]] = deque()
        try:
            for item in items:
                waiting.append((item, self._executor.submit(function, item)))
                if len(waiting) >= TASKS_PER_WORKER * self.workers:
                    first, future = waiting.popleft()
                    yield first, future.result()
            for first, future in waiting:
                yield first, future.result()
        except BrokenProcessPool:
            raise ExternalError(
                "a worker process died (out of memory, or a crash in a plugin); run again with one "
                "worker to see where; a batch can also run with --engine ray, which tries again "
                "and goes on with the rest"
            ) from None


@contextmanager
def open_process_pool(workers: int) -> Iterator[ProcessPoolEngine]:
    """A pool of that many processes; what was not begun when it is left is not begun any more."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    executor = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_init_worker
    )
    try:
        yield ProcessPoolEngine(executor, workers)
    finally:
        executor.shutdown(cancel_futures=True)


def _init_worker() -> None:
    """Ctrl-C reaches every process of a terminal; whoever started the pool answers it."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


_ORPHAN_EXIT_CODE = 1


def end_with_parent() -> None:
    """From now on this process of `multiprocessing` ends as soon as its parent is gone."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_exit_with_parent, args=(parent.sentinel,), daemon=True).start()


def _exit_with_parent(sentinel: int) -> None:
    from multiprocessing.connection import wait

    wait([sentinel])
    os._exit(_ORPHAN_EXIT_CODE)  # nobody is left to take what is at work, or to be told
