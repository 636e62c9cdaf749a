"""Processes of this machine, with their results in the order of the tasks.

Each process has a thread that talks to it. A process that dies gets a successor and the task once
more; if that one dies too, the task has failed. Whatever ends the caller ends the processes.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import IO, Any, TypeVar, cast

from foveate.batch.engines.engine import TASKS_PER_WORKER, Engine, FailedTask
from foveate.batch.engines.process import (
    WorkerFailure,
    format_exit,
    kill,
    pickle_for_worker,
    receive,
    send,
    start_process,
    wait_for_exit,
)


class TransferStopped(Exception):
    """The reader has stopped."""


class OrderedTransfer:
    """Hands tasks of one reader to several threads, and their results back in that order.

    At most `most` bytes of results wait, beside one piece of each thread. The task that is being
    read may always add a piece, so nothing waits for ever.
    """

    def __init__(self, *, most: int) -> None:
        # Ctrl-C may interrupt the reader anywhere in Python code. So it takes the lock in one
        # instruction, and waits outside of it, until `_arrived` is released. A condition could stay
        # locked, or be released without being held.
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._arrived = Lock()
        self._most = most
        self._added = self._current = self._waiting_bytes = 0
        self._tasks: deque[tuple[int, bytes]] = deque()
        self._pieces: dict[int, deque[bytes]] = {}
        self._finished: set[int] = set()
        self._failure: BaseException | None = None
        self._ended = self._stopped = False

    def add_task(self, data: bytes) -> int:
        """Something to work on; its number, which counts from 0."""
        with self._lock:
            self._tasks.append((self._added, data))
            self._added += 1
            self._changed.notify_all()
            return self._added - 1

    def end_tasks(self) -> None:
        """No task follows."""
        with self._lock:
            self._ended = True
            self._changed.notify_all()

    def next_task(self) -> tuple[int, bytes] | None:
        """The next task and its number; waits for one. None if none follows."""
        with self._lock:
            while not (self._tasks or self._ended or self._stopped):
                self._changed.wait()
            return self._tasks.popleft() if self._tasks and not self._stopped else None

    def put(self, number: int, data: bytes) -> None:
        """Something for this number; waits for room. Raises `TransferStopped`."""
        with self._lock:
            while not self._stopped and not self._has_room(number, len(data)):
                self._changed.wait()
            if self._stopped:
                raise TransferStopped
            self._pieces.setdefault(number, deque()).append(data)
            self._waiting_bytes += len(data)
            self._tell_reader()

    def finish(self, number: int) -> None:
        """Nothing more comes for this number."""
        with self._lock:
            self._finished.add(number)
            self._tell_reader()

    def fail(self, failure: BaseException) -> None:
        """Raise this error at the reader."""
        with self._lock:
            self._failure = self._failure or failure
            self._tell_reader()

    def stop(self) -> None:
        """End the transfer and all waiting."""
        with self._lock:
            self._stopped = True
            self._changed.notify_all()

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        with self._lock:
            return self._stopped

    def iter_pieces(self, number: int) -> Iterator[bytes]:
        """What was brought for this number; to be read to its end, and then that of the next."""
        with self._lock:
            self._current = number
            self._changed.notify_all()
        while True:
            with self._lock:
                is_ready = self._is_ready(number)
                if is_ready:
                    if self._failure is not None:
                        raise self._failure
                    if not self._pieces.get(number):
                        self._pieces.pop(number, None)
                        self._finished.discard(number)
                        return
                    data = self._pieces[number].popleft()
                    self._waiting_bytes -= len(data)
                    self._changed.notify_all()
            if is_ready:
                yield data
            else:
                self._arrived.acquire()

    def _tell_reader(self) -> None:
        if self._arrived.locked():
            self._arrived.release()

    def _is_ready(self, number: int) -> bool:
        return bool(self._failure or self._pieces.get(number) or number in self._finished)

    def _has_room(self, number: int, size: int) -> bool:
        if self._waiting_bytes + size <= self._most:
            return True
        return number == self._current and not self._pieces.get(number)


_MAX_WAITING_BYTES = 64 << 20  # bytes that wait for the reader
_ATTEMPTS = 2

A = TypeVar("A")
B = TypeVar("B")


class ProcessPoolEngine(Engine):
    """At most `workers` processes at a time, started as there are tasks for them.

    `tasks_per_worker`: values under way for each, the one at work and those that wait for it.
    """

    def __init__(self, workers: int, tasks_per_worker: int = TASKS_PER_WORKER) -> None:
        self.workers = workers
        self._most_under_way = tasks_per_worker * workers

    def stream_values(
        self, function: Callable[[A], Iterable[B]], items: Iterable[A]
    ) -> Generator[tuple[A, Iterator[B | FailedTask]], None, None]:
        """In order; `FailedTask` for a value at which two processes died.

        What the function raises is raised here. Raises `BadOption` if it cannot be pickled.
        """
        greeting = (pickle.dumps(_import_paths()), pickle_for_worker(function))
        transfer = OrderedTransfer(most=_MAX_WAITING_BYTES)
        workers = [_Worker(greeting, transfer) for _ in range(self.workers)]
        threads = [Thread(target=worker.run, daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        under_way: deque[tuple[A, int]] = deque()
        try:
            for item in items:
                under_way.append((item, transfer.add_task(pickle_for_worker(item))))
                if len(under_way) >= self._most_under_way:
                    first, number = under_way.popleft()
                    yield first, _unpickle_results(transfer.iter_pieces(number))
            transfer.end_tasks()
            for first, number in under_way:
                yield first, _unpickle_results(transfer.iter_pieces(number))
        finally:
            transfer.stop()
            for worker in workers:
                worker.terminate()
            for thread in threads:
                thread.join()


def _unpickle_results(pieces: Iterator[bytes]) -> Iterator[Any]:
    for piece in pieces:
        found = pickle.loads(piece)  # noqa: S301 - from a process of ours
        if isinstance(found, WorkerFailure):
            raise found.error
        yield found


def _import_paths() -> list[str]:
    """The module search path without the current folder."""
    return [place for place in sys.path if place and Path(place).is_absolute()]


class _WorkerExited(Exception):
    """The process ended in the midst of a task."""


class _Worker:
    def __init__(self, greeting: Sequence[bytes], transfer: OrderedTransfer) -> None:
        self._greeting, self._transfer = greeting, transfer
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Work on tasks until there are none, or the transfer is stopped."""
        try:
            while (given := self._transfer.next_task()) is not None:
                self._run_task(*given)
                self._transfer.finish(given[0])
        except TransferStopped:
            pass
        except BaseException as error:  # noqa: BLE001 - raised where the results are taken
            self._transfer.fail(error)
        finally:
            self._release_process(now=self._transfer.is_stopped)

    def terminate(self) -> None:
        """End its process once all is stopped, from another thread: its own finds it gone."""
        if (process := self._process) is not None:
            kill(process)

    def _run_task(self, number: int, task: bytes) -> None:
        """Transfer every piece of the task once, also when it is tried again."""
        brought, how = 0, ""
        for _ in range(_ATTEMPTS):
            try:
                for i, piece in enumerate(self._send_task(task)):
                    if i >= brought:
                        self._transfer.put(number, piece)
                        brought += 1
                return
            except _WorkerExited:
                how = format_exit(self._release_process(now=True))
                if self._transfer.is_stopped:
                    raise TransferStopped from None
        reason = f"its process broke down twice ({how}): out of memory, or a crash in a plugin"
        self._transfer.put(number, pickle.dumps(FailedTask(reason=reason)))

    def _send_task(self, task: bytes) -> Iterator[bytes]:
        process = self._process
        try:
            if process is None:
                process = self._process = start_process("foveate.batch.engines.worker", group=True)
                if self._transfer.is_stopped:  # before this process was there to be ended
                    raise TransferStopped
                for piece in self._greeting:
                    send(cast("IO[bytes]", process.stdin), piece)
                yield from self._receive_pieces(process)
            send(cast("IO[bytes]", process.stdin), task)
        except OSError:
            raise _WorkerExited from None
        yield from self._receive_pieces(process)

    def _receive_pieces(self, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        while (piece := receive(cast("IO[bytes]", process.stdout))) != b"":
            if piece is None:
                raise _WorkerExited
            yield piece

    def _release_process(self, *, now: bool) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        if now:
            kill(process)
        return wait_for_exit(process)
