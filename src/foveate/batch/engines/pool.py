"""Processes of this machine, with their results in the order of the tasks.

Each process has a thread that talks to it. A process that dies gets a successor and the task once
more; if that one dies too, the task has failed. Whatever ends the caller ends the processes.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
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

_MAX_WAITING_BYTES = 64 << 20
"""Bytes of results that wait for the reader, beside one piece of each process."""
_POLL_SECONDS = 0.01
"""Seconds between two looks for room."""
_ATTEMPTS = 2

A = TypeVar("A")
B = TypeVar("B")


class _Task:
    """A pickled value, and its results as they arrive; None is their end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.pieces: SimpleQueue[bytes | BaseException | None] = SimpleQueue()
        self.brought = self.taken = 0

    def results(self) -> Iterator[Any]:
        """To be read to the end; raises what the function raised."""
        while (piece := self.pieces.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            self.taken += len(piece)
            found = pickle.loads(piece)  # noqa: S301 - from a process of ours
            if isinstance(found, WorkerFailure):
                raise found.error
            yield found


class _Stopped(Exception):
    """The reader has stopped."""


class _Tasks:
    """The tasks under way, the one that is read first.

    There is no lock: Ctrl-C may interrupt the reader anywhere, and a lock that it held would stay
    locked. Each number is written by one thread, and simple queues are safe.
    """

    def __init__(self) -> None:
        self.given: SimpleQueue[_Task | None] = SimpleQueue()
        self.under_way: deque[_Task] = deque()
        self.is_stopped = False

    def add(self, data: bytes) -> None:
        """Another task, for whichever process is free."""
        task = _Task(data)
        self.under_way.append(task)
        self.given.put(task)

    def put(self, task: _Task, piece: bytes) -> None:
        """A result; waits for room, which the task that is read always has. Raises `_Stopped`."""
        while not (self.is_stopped or self._has_room(task, len(piece))):
            time.sleep(_POLL_SECONDS)
        if self.is_stopped:
            raise _Stopped
        task.brought += len(piece)
        task.pieces.put(piece)

    def _has_room(self, task: _Task, size: int) -> bool:
        known = tuple(self.under_way)
        waiting = sum(one.brought - one.taken for one in known)
        own = task.brought - task.taken
        return waiting + size <= _MAX_WAITING_BYTES or (task is known[0] and not own)


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
        tasks = _Tasks()
        workers = [_Worker(greeting, tasks) for _ in range(self.workers)]
        threads = [Thread(target=worker.run, daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        values: deque[A] = deque()
        try:
            for item in items:
                values.append(item)
                tasks.add(pickle_for_worker(item))
                if len(values) >= self._most_under_way:
                    yield values.popleft(), tasks.under_way[0].results()
                    tasks.under_way.popleft()
            while values:
                yield values.popleft(), tasks.under_way[0].results()
                tasks.under_way.popleft()
        finally:
            tasks.is_stopped = True
            for worker in workers:
                tasks.given.put(None)
                worker.terminate()
            for thread in threads:
                thread.join()


def _import_paths() -> list[str]:
    """The module search path without the current folder."""
    return [place for place in sys.path if place and Path(place).is_absolute()]


class _WorkerExited(Exception):
    """The process ended in the midst of a task."""


class _Worker:
    def __init__(self, greeting: Sequence[bytes], tasks: _Tasks) -> None:
        self._greeting, self._tasks = greeting, tasks
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Work on tasks until the reader stops."""
        while not self._tasks.is_stopped and (task := self._tasks.given.get()) is not None:
            try:
                self._run_task(task)
                task.pieces.put(None)
            except _Stopped:
                break
            except BaseException as error:  # noqa: BLE001 - raised where the results are taken
                task.pieces.put(error)
        self._release_process()

    def terminate(self) -> None:
        """End its process once all is stopped, from another thread: its own finds it gone."""
        if (process := self._process) is not None:
            kill(process)

    def _run_task(self, task: _Task) -> None:
        """Hand over every piece of the task once, also when it is tried again."""
        brought, how = 0, ""
        for _ in range(_ATTEMPTS):
            try:
                for i, piece in enumerate(self._send_task(task.data)):
                    if i >= brought:
                        self._tasks.put(task, piece)
                        brought += 1
                return
            except _WorkerExited:
                how = format_exit(self._release_process())
                if self._tasks.is_stopped:
                    raise _Stopped from None
        reason = f"its process broke down twice ({how}): out of memory, or a crash in a plugin"
        self._tasks.put(task, pickle.dumps(FailedTask(reason=reason)))

    def _send_task(self, data: bytes) -> Iterator[bytes]:
        process = self._process
        try:
            if process is None:
                process = self._process = start_process("foveate.batch.engines.worker", group=True)
                if self._tasks.is_stopped:  # before this process was there to be ended
                    raise _Stopped
                for piece in self._greeting:
                    send(cast("IO[bytes]", process.stdin), piece)
                yield from self._receive_pieces(process)
            send(cast("IO[bytes]", process.stdin), data)
        except OSError:
            raise _WorkerExited from None
        yield from self._receive_pieces(process)

    def _receive_pieces(self, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        while (piece := receive(cast("IO[bytes]", process.stdout))) != b"":
            if piece is None:
                raise _WorkerExited
            yield piece

    def _release_process(self) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        kill(process)
        return wait_for_exit(process)
