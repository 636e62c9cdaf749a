"""Prepares files in several processes, with their results in the order of the tasks.

Each process has a thread that talks to it. A process that dies gets a successor and the file once
more; if that one dies too, the file is refused. Whatever ends the caller ends the processes.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import IO, cast

from foveate.ingest.document_task import PartsByTask, PreparedPart, Preparer, Refusal, Task
from foveate.ingest.process import (
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
    """Hands results of several threads to one reader, in the order of the tasks.

    At most `ahead` numbers are given out before the one that is read, and at most `most` bytes
    wait, beside one piece of each thread. The task that is being read may always add a piece, so
    nothing waits for ever.
    """

    def __init__(self, tasks: int, *, ahead: int, most: int) -> None:
        # Ctrl-C may interrupt the reader anywhere in Python code. So it takes the lock in one
        # instruction, and waits outside of it, until `_arrived` is released. A condition could stay
        # locked, or be released without being held.
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._arrived = Lock()
        self._tasks, self._ahead, self._most = tasks, ahead, most
        self._next = self._current = self._waiting_bytes = 0
        self._pieces: dict[int, deque[bytes]] = {}
        self._finished: set[int] = set()
        self._failure: BaseException | None = None
        self._stopped = False

    def next_number(self) -> int | None:
        """The next number to work on, once it is near enough; None if there is none."""
        with self._lock:
            while not self._stopped and self._current + self._ahead <= self._next < self._tasks:
                self._changed.wait()
            if self._stopped or self._next == self._tasks:
                return None
            self._next += 1
            return self._next - 1

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

    def iter_results(self) -> Iterator[Iterator[bytes]]:
        """For each number in order, what was brought for it; each is to be read to its end."""
        for number in range(self._tasks):
            yield self._iter_pieces(number)

    def _iter_pieces(self, number: int) -> Iterator[bytes]:
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


_FILES_AHEAD = 64  # files a process
_MAX_WAITING_BYTES = 64 << 20  # bytes that wait for the writer
_ATTEMPTS = 2


@contextmanager
def prepare_in_processes(
    preparer: Preparer, tasks: Sequence[Task], jobs: int
) -> Iterator[PartsByTask]:
    """The parts of each task, in order, prepared by `jobs` processes.

    Errors of a process are raised where its parts are read. Raises `BadOption` if the tokenizer or
    the embedder cannot be pickled.
    """
    bare = pickle_for_worker(replace(preparer, embedder=None), "use jobs=1")
    embedder = preparer.embedder and pickle_for_worker(preparer.embedder, "use jobs=1")
    greeting = (pickle.dumps(_import_paths()), bare, embedder or b"")
    over = OrderedTransfer(len(tasks), ahead=_FILES_AHEAD * jobs, most=_MAX_WAITING_BYTES)
    workers = [_Worker(greeting, tasks, over) for _ in range(min(jobs, len(tasks)))]
    threads = [Thread(target=worker.run, daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        yield (_unpickle_parts(pieces) for pieces in over.iter_results())
    finally:
        over.stop()
        for worker in workers:
            worker.terminate()
        for thread in threads:
            thread.join()


def _unpickle_parts(pieces: Iterator[bytes]) -> Iterator[PreparedPart]:
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
    def __init__(
        self, greeting: Sequence[bytes], tasks: Sequence[Task], over: OrderedTransfer
    ) -> None:
        self._greeting, self._tasks, self._transfer = greeting, tasks, over
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Work on tasks until there are none, or the transfer is stopped."""
        try:
            while (number := self._transfer.next_number()) is not None:
                self._run_task(number)
                self._transfer.finish(number)
        except TransferStopped:
            pass
        except BaseException as error:  # noqa: BLE001 - raised where the parts are taken
            self._transfer.fail(error)
        finally:
            self._release_process(now=self._transfer.is_stopped)

    def terminate(self) -> None:
        """End its process once all is stopped, from another thread: its own finds it gone."""
        if (process := self._process) is not None:
            kill(process)

    def _run_task(self, number: int) -> None:
        """Transfer every piece of the task once, also when it is tried again."""
        brought, how = 0, ""
        for _ in range(_ATTEMPTS):
            try:
                for i, piece in enumerate(self._send_task(self._tasks[number])):
                    if i >= brought:
                        self._transfer.put(number, piece)
                        brought += 1
                return
            except _WorkerExited:
                how = format_exit(self._release_process(now=True))
                if self._transfer.is_stopped:
                    raise TransferStopped from None
        reason = f"the process that prepared it broke down twice ({how})"
        self._transfer.put(number, pickle.dumps(Refusal(reason=reason)))

    def _send_task(self, task: Task) -> Iterator[bytes]:
        process = self._process
        try:
            if process is None:
                process = self._process = start_process("foveate.ingest.worker", group=True)
                if self._transfer.is_stopped:  # before this process was there to be ended
                    raise TransferStopped
                for piece in self._greeting:
                    send(cast("IO[bytes]", process.stdin), piece)
                yield from self._receive_pieces(process)
            send(cast("IO[bytes]", process.stdin), pickle.dumps(task, pickle.HIGHEST_PROTOCOL))
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
