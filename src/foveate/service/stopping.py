"""Computing whose time is over is ended, so that a request's time bounds its work too.

A thread cannot be ended from outside, but something can be raised in it between two steps of the
interpreter. So pure computing ends at any such place; what others share, a store, a cache, the
list of open stores, is used within `unstopped` and goes on to its end first. A single step that
is long by itself (a pattern, a query of a database) is waited for.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from threading import Lock, get_ident
from types import TracebackType
from typing import Any, Generic, TypeVar

from foveate.around import CALLS

T = TypeVar("T")


class Stopped(BaseException):
    """Raised where nobody waits for the outcome; no error of anybody's, so nobody handles it."""


class Stoppable(Generic[T]):
    """A call that may be stopped while it runs. For one run, on whatever thread."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._lock = Lock()
        self._thread: int | None = None
        self._told = False
        self._kept = 0

    def __call__(self) -> T:
        """What the call gives; raises `Stopped`."""
        token = _JOB.set(self)
        try:
            self._thread = get_ident()
            return self._call()
        finally:
            try:
                self._over()
            except Stopped:  # it arrived before that could begin
                self._over()
            _JOB.reset(token)

    def stop(self) -> bool:
        """Raise `Stopped` in it; False where it is not running, or must not be stopped just now."""
        with self._lock:
            if self._thread is None or self._kept:
                return False
            self._told = True
            _raise_in(self._thread)
            return True

    def keep(self, change: int) -> None:
        """One more, or one less, that must not be stopped."""
        with self._lock:
            self._kept += change

    def _over(self) -> None:
        """From here on nothing is raised in this thread, which goes on to other work.

        What was raised and may not have arrived cannot be taken back: the interpreter would look
        for it at every step from then on. It is raised once more, in its place, and waited for.
        """
        last = False
        while not last:
            try:
                with self._lock:
                    self._thread = None
                if not self._told:
                    return
                last = True  # whichever arrives from here on, no other one is on its way
                _raise_in(get_ident())
                while True:
                    pass
            except Stopped:
                continue


_JOB: ContextVar[Stoppable[Any] | None] = ContextVar("foveate_job", default=None)


class _Unstopped:
    __slots__ = ("_job",)

    def __init__(self, job: Stoppable[Any]) -> None:
        self._job = job

    def __enter__(self) -> None:
        self._job.keep(1)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._job.keep(-1)


def unstopped() -> AbstractContextManager[None]:
    """For what others share: it goes on to its end."""
    job = _JOB.get()
    return nullcontext() if job is None else _Unstopped(job)


def around(name: str) -> AbstractContextManager[None]:
    """A watcher under which calls to the outside are not stopped: stores, caches, embedders."""
    return unstopped() if name in CALLS else nullcontext()


def _raise_in(thread: int) -> None:
    """Have the interpreter raise `Stopped` in that thread as soon as it goes on."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Stopped))
