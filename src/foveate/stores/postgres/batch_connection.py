"""The connection that a batch holds, and who may use it: the task or thread that opened it.

Rules: a context is copied into tasks and threads that are started inside a batch, so that a context
variable alone does not say whose the batch is; a batch that is over is nobody's.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar, Token
from threading import Thread, current_thread
from typing import Any, Generic, TypeVar

from foveate.core.errors import BadOption

Connection = TypeVar("Connection")


class Batch(Generic[Connection]):
    """An open batch: its connection and its owner. `open` ends before the connection goes back."""

    __slots__ = ("connection", "open", "owner")

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.owner = _current_owner()
        self.open = True


class CurrentBatch(Generic[Connection]):
    """The batch that this context is in, of one store. Safe for threads and tasks."""

    def __init__(self) -> None:
        self._batch: ContextVar[Batch[Connection] | None] = ContextVar("batch", default=None)

    def begin(self, connection: Connection) -> tuple[Batch[Connection], Token[Any]]:
        """From now on, what is called here shares the connection; hand the outcome to `end`."""
        batch = Batch(connection)
        return batch, self._batch.set(batch)

    def end(self, begun: tuple[Batch[Connection], Token[Any]]) -> None:
        """From now on nobody uses it, also who was started inside and goes on."""
        batch, token = begun
        batch.open = False
        self._batch.reset(token)

    def own_connection(self) -> Connection | None:
        """The connection of the batch that is open here; None outside, and in another's."""
        batch = self._batch.get()
        own = batch is not None and batch.open and batch.owner == _current_owner()
        return batch.connection if batch is not None and own else None

    def connection_for_writing(self) -> Connection | None:
        """The same for who writes; raises `BadOption` for a writer that must wait for its batch.

        A task that the batch's owner waits for would wait for the lock that the batch holds.
        """
        if (connection := self.own_connection()) is not None:
            return connection
        if self.is_inherited():
            raise BadOption(
                "batch: only the task or thread that opened a batch writes while it is open, and "
                "this one was started inside it (gather, create_task, wait_for and to_thread do "
                "that); await the writes one after another, or start it outside the batch"
            )
        return None

    def is_inherited(self) -> bool:
        """Whether this task or thread was started inside a batch of another that is still open."""
        batch = self._batch.get()
        return batch is not None and batch.open and batch.owner != _current_owner()


def _current_owner() -> tuple[Thread, asyncio.Task[Any] | None]:
    """This thread, and the task that runs in it."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return current_thread(), task
