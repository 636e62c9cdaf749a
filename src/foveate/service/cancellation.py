"""Ends computing whose time is over, so that a request's time limit bounds its work too.

A thread cannot be ended from outside, but an exception can be raised in it between two steps of the
interpreter. What requests share (a store, a cache, the list of open stores) is used within `shield`
and finishes first. A single long step (a pattern, a database query) is waited for.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock, get_ident
from typing import Any, Generic, TypeVar

from foveate.pipeline.observers import CALL_STEPS

T = TypeVar("T")


class Cancelled(BaseException):
    """Raised in work that is cancelled; not an `Exception`, so that no code handles it."""


class CancellableCall(Generic[T]):
    """A call that may be stopped while it runs. For one run, on whatever thread."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._lock = Lock()
        self._thread: int | None = None
        self._is_cancelled = False
        self._shields = 0

    def __call__(self) -> T:
        """Run the call; raises `Cancelled`."""
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


@contextmanager
def shield() -> Iterator[None]:
    """A block that is not cancelled, for resources that requests share."""
    call = _CURRENT_CALL.get()
    if call is None:
        yield
        return
    call.change_shields(1)
    try:
        yield
    finally:
        call.change_shields(-1)


def cancellation_observer(name: str) -> AbstractContextManager[None]:
    """A watcher under which calls to the outside are not stopped: stores, caches, embedders."""
    return shield() if name in CALL_STEPS else nullcontext()


def _raise_in_thread(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Cancelled))
