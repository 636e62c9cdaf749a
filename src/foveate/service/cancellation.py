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

from foveate.pipeline.observers import CALL_STEPS

T = TypeVar("T")


class Cancelled(BaseException):
    """Raised where nobody waits for the outcome; no error of anybody's, so nobody handles it."""


class CancellableCall(Generic[T]):
    """A call that may be stopped while it runs. For one run, on whatever thread."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._lock = Lock()
        self._thread: int | None = None
        self._is_cancelled = False
        self._shields = 0

    def __call__(self) -> T:
        """What the call gives; raises `Cancelled`."""
        token = _CURRENT_CALL.set(self)
        try:
            self._thread = get_ident()
            return self._call()
        finally:
            try:
                self._finish()
            except Cancelled:  # it arrived before that could begin
                self._finish()
            _CURRENT_CALL.reset(token)

    def cancel(self) -> bool:
        """Raise `Cancelled` in it.

        False where it is not running, or must not be stopped just now.
        """
        with self._lock:
            if self._thread is None or self._shields:
                return False
            self._is_cancelled = True
            _raise_in_thread(self._thread)
            return True

    def change_shields(self, change: int) -> None:
        """One more, or one less, that must not be stopped."""
        with self._lock:
            self._shields += change

    def _finish(self) -> None:
        """From here on nothing is raised in this thread, which goes on to other work.

        What was raised and may not have arrived cannot be taken back: the interpreter would look
        for it at every step from then on. It is raised once more, in its place, and waited for.
        """
        last = False
        while not last:
            try:
                with self._lock:
                    self._thread = None
                if not self._is_cancelled:
                    return
                last = True  # whichever arrives from here on, no other one is on its way
                _raise_in_thread(get_ident())
                while True:
                    pass
            except Cancelled:
                continue


_CURRENT_CALL: ContextVar[CancellableCall[Any] | None] = ContextVar("foveate_job", default=None)


class _Shield:
    __slots__ = ("_job",)

    def __init__(self, job: CancellableCall[Any]) -> None:
        self._job = job

    def __enter__(self) -> None:
        self._job.change_shields(1)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._job.change_shields(-1)


def shield() -> AbstractContextManager[None]:
    """For what others share: it goes on to its end."""
    job = _CURRENT_CALL.get()
    return nullcontext() if job is None else _Shield(job)


def cancellation_observer(name: str) -> AbstractContextManager[None]:
    """A watcher under which calls to the outside are not stopped: stores, caches, embedders."""
    return shield() if name in CALL_STEPS else nullcontext()


def _raise_in_thread(thread: int) -> None:
    """Have the interpreter raise `Cancelled` in that thread as soon as it goes on."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Cancelled))
