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

from foveate.adapters.stores import known, schema
from foveate.adapters.stores.guard import guard
from foveate.adapters.stores.postings import Pending

Kind: TypeAlias = Literal["IMMEDIATE", "DEFERRED"]


class Transactions:
    """What the embedded store stands on. Safe to share between threads."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = RLock()
        self._pending = Pending()

    @contextmanager
    def _statement(self) -> Iterator[sqlite3.Connection]:
        """For a single statement, which sees one state by itself."""
        with self._lock, guard():
            yield self._connection

    @contextmanager
    def _transaction(self, kind: Kind, *, reads: bool = True) -> Iterator[sqlite3.Connection]:
        """All that is done inside is the store's own work, and so are its errors."""
        with self._begun(kind, reads=reads), guard():
            yield self._connection

    @contextmanager
    def _noted(self) -> Iterator[sqlite3.Connection]:
        """For what need not be written: only where no other writer stands in the way."""
        connection = self._connection
        noting = self._transaction("IMMEDIATE", reads=False)
        with self._lock, guard(), known.impatient(connection), noting:
            yield connection

    @contextmanager
    def _begun(self, kind: Kind, *, reads: bool = True) -> Iterator[None]:
        """A transaction around what may be a caller's work, whose errors stay as they are.

        Inside another one, what waits to be indexed is written first where this one `reads`.
        """
        with self._lock:
            with guard():
                nested = self._connection.in_transaction
                if nested and (reads or self._pending.full()):
                    self._pending.flush(self._connection)
                self._connection.execute("SAVEPOINT inner" if nested else f"BEGIN {kind}")
                if not nested:
                    self._pending.restore(())  # of one that the engine ended by itself
            waiting = tuple(self._pending.entries)
            try:
                if kind == "IMMEDIATE" and not nested:
                    with guard():
                        schema.refuse_moved(self._connection)
                yield
                with guard():
                    if not nested:
                        self._pending.flush(self._connection)
                    self._connection.execute("RELEASE inner" if nested else "COMMIT")
            except BaseException:
                self._pending.restore(waiting)
                # A full disk has ended the whole transaction already.
                with guard():
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK TO inner" if nested else "ROLLBACK")
                raise
