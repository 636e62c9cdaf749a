"""Several processes that prepare files, and their answers in the order of the tasks.

Each process has a thread that talks to it; what comes back waits, pickled, in a `HandOver` until
the writer has come to it. A process that is gone in the midst of a file gets a successor and the
file once more; where that one goes too, the file is refused. Whatever ends the caller ends them.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import IO, cast

from foveate.core.errors import BadOption
from foveate.ingest.hand_over import HandOver, Stopped
from foveate.ingest.one import Part, Preparer, Refused, Task
from foveate.ingest.process import Failed, cause, kill, left, receive, send, started

__all__ = ["prepared_apart"]

_AHEAD = 64  # files a process
_WAITING = 64 << 20  # bytes that wait for the writer
_TRIES = 2


@contextmanager
def prepared_apart(
    preparer: Preparer, tasks: Sequence[Task], jobs: int
) -> Iterator[Iterator[Iterator[Part]]]:
    """The parts of each task, in order, prepared by `jobs` processes.

    What a process raises is raised where its parts are taken. Raises `BadOption` where the
    tokenizer or the embedder cannot be sent.
    """
    embedder = b"" if preparer.embedder is None else _pickled(preparer.embedder)
    greeting = (pickle.dumps(_places()), _pickled(replace(preparer, embedder=None)), embedder)
    over = HandOver(len(tasks), ahead=_AHEAD * jobs, most=_WAITING)
    workers = [_Worker(greeting, tasks, over) for _ in range(min(jobs, len(tasks)))]
    threads = [Thread(target=worker.run, daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        yield (_parts(pieces) for pieces in over.taken())
    finally:
        over.stop()
        for worker in workers:
            worker.end()
        for thread in threads:
            thread.join()


def _parts(pieces: Iterator[bytes]) -> Iterator[Part]:
    for piece in pieces:
        found = pickle.loads(piece)  # noqa: S301 - from a process of ours
        if isinstance(found, Failed):
            raise found.error
        yield found


def _places() -> list[str]:
    """Where this process finds modules, but for the current folder."""
    return [place for place in sys.path if place and Path(place).is_absolute()]


def _pickled(thing: object) -> bytes:
    try:
        return pickle.dumps(thing, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - whatever the tokenizer's own pickling raises
        raise BadOption(
            f"jobs: the tokenizer or the embedder cannot be sent to another process ({error}); "
            "use jobs=1"
        ) from None


class _Gone(Exception):
    """The process ended in the midst of a task."""


class _Worker:
    """One process at a time, and what its thread does."""

    def __init__(self, greeting: Sequence[bytes], tasks: Sequence[Task], over: HandOver) -> None:
        self._greeting, self._tasks, self._over = greeting, tasks, over
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Do tasks until there are none, or nobody wants them."""
        try:
            while (number := self._over.next()) is not None:
                self._do(number)
                self._over.end(number)
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - raised where the parts are taken
            self._over.fail(error)
        finally:
            self._let_go(now=self._over.is_stopped)

    def end(self) -> None:
        """End its process once all is stopped, from another thread: its own finds it gone."""
        if (process := self._process) is not None:
            kill(process)

    def _do(self, number: int) -> None:
        """Every piece of the task, once; what a first try has brought is not brought again."""
        brought, how = 0, ""
        for _ in range(_TRIES):
            try:
                for i, piece in enumerate(self._asked(self._tasks[number])):
                    if i >= brought:
                        self._over.bring(number, piece)
                        brought += 1
                return
            except _Gone:
                how = cause(self._let_go(now=True))
                if self._over.is_stopped:
                    raise Stopped from None
        reason = f"the process that prepared it broke down twice ({how})"
        self._over.bring(number, pickle.dumps(Refused(reason=reason)))

    def _asked(self, task: Task) -> Iterator[bytes]:
        """The answer's pieces. Raises `_Gone`."""
        process = self._process
        try:
            if process is None:
                process = self._process = started("foveate.ingest.worker", group=True)
                if self._over.is_stopped:  # before this process was there to be ended
                    raise Stopped
                for piece in self._greeting:
                    send(cast("IO[bytes]", process.stdin), piece)
                yield from self._answer(process)
            send(cast("IO[bytes]", process.stdin), pickle.dumps(task, pickle.HIGHEST_PROTOCOL))
        except OSError:
            raise _Gone from None
        yield from self._answer(process)

    def _answer(self, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        while (piece := receive(cast("IO[bytes]", process.stdout))) != b"":
            if piece is None:
                raise _Gone
            yield piece

    def _let_go(self, *, now: bool) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        if now:
            kill(process)
        return left(process)
