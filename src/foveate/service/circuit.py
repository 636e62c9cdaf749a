"""A circuit breaker in front of what may hang: a server's store, a reranker, a cache, an embedder.

Calls run on threads of their own, and who waits for one gives up after `seconds`. Then calls are
refused at once, until one is tried again and answers in time.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Condition, Thread
from time import monotonic
from typing import TypeVar

from foveate.core.errors import ExternalError
from foveate.service.worker_pool import wait_outside

T = TypeVar("T")

PAUSE_SECONDS = 5.0
"""Seconds for which calls are refused behind one that took too long."""
GRACE_SECONDS = 0.5
"""Seconds behind `seconds`, for a call that ends itself then and knows the reason."""


class Circuit:
    """Up to `at_once` calls, and `waiting` more, with `seconds` for each.

    `name`: what is called, in errors. A call that is given up keeps its place until it ends.
    """

    def __init__(self, name: str, *, seconds: float, at_once: int, waiting: int = 64) -> None:
        self.name, self._seconds = name, seconds
        self._at_once, self._waiting = at_once, waiting
        self._running = self._queued = 0
        self._failed_at = self._retry_at = 0.0
        self._changed = Condition()

    @property
    def is_open(self) -> bool:
        """Whether the last calls took too long, and others are refused for now."""
        return self._retry_at > 0

    def call(self, work: Callable[[], T], *, seconds: float | None = None) -> T:
        """The work's value, with `seconds` of its own if given; raises `ExternalError`."""
        limit = self._seconds if seconds is None else seconds
        with wait_outside():
            begun = self._begin(limit)
            try:
                return self._run(work, limit)
            finally:
                self._judge(begun, limit)

    def _begin(self, limit: float) -> float:
        """Wait for a place; when it was there."""
        with self._changed:
            if self._queued >= self._waiting:
                raise ExternalError(f"the {self.name} has too many calls; come again")
            self._queued += 1
            self._changed.wait_for(lambda: self.is_open or self._running < self._at_once, limit)
            self._queued -= 1
            now = monotonic()
            if now < self._retry_at or self._running >= self._at_once:
                raise ExternalError(f"the {self.name} did not answer; it is not asked for now")
            if self.is_open:  # this call tries it, for all
                self._retry_at = now + limit + PAUSE_SECONDS
            self._running += 1
            return now

    def _run(self, work: Callable[[], T], limit: float) -> T:
        result = Future[T]()

        def leave() -> None:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

        def run() -> None:
            try:
                result.set_result(work())
            except BaseException as error:  # noqa: BLE001  # it is handed to who waits
                result.set_exception(error)
            leave()

        try:
            Thread(target=copy_context().run, args=(run,), daemon=True).start()
        except RuntimeError as error:  # the process may have no more threads
            leave()
            raise ExternalError(f"the {self.name} cannot be asked now; come again") from error
        try:
            return result.result(limit + GRACE_SECONDS)
        except TimeoutError as error:
            if result.done():
                raise
            raise ExternalError(f"no answer of the {self.name} within {limit:g} s") from error

    def _judge(self, begun: float, limit: float) -> None:
        """Refuse calls for some time if this one took too long, however it ended; else do not."""
        with self._changed:
            now = monotonic()
            if now - begun >= limit:
                self._failed_at, self._retry_at = now, now + PAUSE_SECONDS
            elif begun >= self._failed_at:
                self._retry_at = 0.0
            self._changed.notify_all()


class Guarded:
    """A port whose methods are called through a circuit; `own`: seconds by name of a method."""

    def __init__(self, port: object, circuit: Circuit, **own: float) -> None:
        def guard(method: Callable[..., T], seconds: float | None) -> Callable[..., T]:
            return lambda *args, **named: circuit.call(
                lambda: method(*args, **named), seconds=seconds
            )

        for name in dir(port):
            if not name.startswith("_"):
                value = getattr(port, name)
                is_call = callable(value) and name != "close"
                setattr(self, name, guard(value, own.get(name)) if is_call else value)
