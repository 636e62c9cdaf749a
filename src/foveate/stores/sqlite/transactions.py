"""One connection behind one lock, and the transactions on it.

Rules: a write is one `BEGIN IMMEDIATE` transaction (a second writer waits for it, a killed one
leaves the last good state); one inside another is a savepoint; what waits to be indexed is written
before it is read and before the end, and never inside a savepoint that may be undone without it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Literal, TypeAlias

from foveate.stores.postings import PendingPostings
from foveate.stores.sqlite import schema, text_memory
from foveate.stores.sqlite.engine_errors import convert_engine_errors

TransactionKind: TypeAlias = Literal["IMMEDIATE", "DEFERRED"]


class Transactions:
    """What the embedded store stands on. Safe to share between threads."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = RLock()
        self._pending = PendingPostings()

    @contextmanager
    def _statement(self) -> Iterator[sqlite3.Connection]:
        """For a single statement, which sees one state by itself."""
        with self._lock, convert_engine_errors():
            yield self._connection

    @contextmanager
    def _transaction(
        self, kind: TransactionKind, *, reads: bool = True
    ) -> Iterator[sqlite3.Connection]:
        """All that is done inside is the store's own work, and so are its errors."""
        with self._caller_transaction(kind, reads=reads), convert_engine_errors():
            yield self._connection

    @contextmanager
    def _best_effort_transaction(self) -> Iterator[sqlite3.Connection]:
        """For what need not be written: only where no other writer stands in the way."""
        connection = self._connection
        noting = self._transaction("IMMEDIATE", reads=False)
        with self._lock, convert_engine_errors(), text_memory.without_busy_wait(connection), noting:
            yield connection

    @contextmanager
    def _caller_transaction(self, kind: TransactionKind, *, reads: bool = True) -> Iterator[None]:
        """A transaction around what may be a caller's work, whose errors stay as they are.

        Inside another one, what waits to be indexed is written first where this one `reads`.
        """
        with self._lock:
            with convert_engine_errors():
                nested = self._connection.in_transaction
                if nested and (reads or self._pending.is_full()):
                    self._pending.flush(self._connection)
                self._connection.execute("SAVEPOINT inner" if nested else f"BEGIN {kind}")
                if not nested:
                    self._pending.begin()  # some may wait of one that the engine ended itself
            waiting = tuple(self._pending.entries)
            try:
                if kind == "IMMEDIATE" and not nested:
                    with convert_engine_errors():
                        schema.check_schema_version(self._connection)
                yield
                with convert_engine_errors():
                    if not nested:
                        self._pending.flush(self._connection)
                    self._connection.execute("RELEASE inner" if nested else "COMMIT")
            except BaseException:
                self._pending.restore(waiting)
                # A full disk has ended the whole transaction already.
                with convert_engine_errors():
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK TO inner" if nested else "ROLLBACK")
                raise
