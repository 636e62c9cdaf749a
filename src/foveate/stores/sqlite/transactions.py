"""The connection of an embedded store, its transactions, and SQLite's errors.

A write is one `BEGIN IMMEDIATE` transaction; one inside another is a savepoint. Postings that wait
are written before a read and before the end, and never inside a savepoint that may be undone alone.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from sqlite3 import Connection
from threading import RLock
from typing import Literal, TypeAlias

from foveate.core.errors import BadInput, ExternalError
from foveate.stores.base import StoreFull
from foveate.stores.checksums import damage
from foveate.stores.sql.postings import PendingPostings
from foveate.stores.sqlite import schema
from foveate.stores.sqlite.database import SqliteDatabase

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NONSENSE = {0, sqlite3.SQLITE_ERROR}
"""A text that is no UTF-8, a table that is not there: our statements are right on a whole store."""


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether the file itself is what is wrong, or what is written in it."""
    return _error_code(error) in _DAMAGED | _NONSENSE


@contextmanager
def convert_engine_errors() -> Iterator[None]:
    """What SQLite and the file system raise inside leaves as `ExternalError` or `BadInput`."""
    try:
        yield
    except sqlite3.Error as error:
        if _error_code(error) == sqlite3.SQLITE_FULL:
            raise StoreFull("store") from error
        raise ExternalError(f"store: {_error_advice(error)}") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreFull("store") from error
        raise ExternalError(f"store: {error.strerror or error}: {error.filename!r}") from error
    except UnicodeDecodeError:
        raise damage("a text in it is not as it was written") from None
    except UnicodeEncodeError as error:
        raise BadInput(f"a text cannot be stored: {error.reason}") from None
    except OverflowError as error:
        raise BadInput(f"a number is too large for the store: {error}") from error


def _error_advice(error: sqlite3.Error) -> str:
    code = _error_code(error)
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return "another process is writing; nothing was changed, try again"
    if code in _DAMAGED:
        return (
            f"its file is damaged ({error}); foveate store check says where, "
            "then open a backup, or index into a new folder"
        )
    if "closed database" in str(error):  # of Python's own, without a code
        return "it is closed; open it again with open_store"
    return f"{error}; nothing was changed; foveate store check says whether the store is whole"


def _error_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


TransactionKind: TypeAlias = Literal["IMMEDIATE", "DEFERRED"]


class Transactions:
    """The connection of an embedded store and its transactions. Safe to share between threads."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._connection = database.connection
        self._lock = RLock()
        self._pending = PendingPostings()

    @contextmanager
    def _statement(self) -> Iterator[Connection]:
        """For a single statement, which sees one state by itself."""
        with self._lock, convert_engine_errors():
            yield self._connection

    @contextmanager
    def _transaction(self, kind: TransactionKind, *, reads: bool = True) -> Iterator[Connection]:
        """All that is done inside is the store's own work, and so are its errors."""
        with self._caller_transaction(kind, reads=reads), convert_engine_errors():
            yield self._connection

    @contextmanager
    def _best_effort_transaction(self) -> Iterator[Connection]:
        """For writes that may be left out: it fails at once if another writer is active."""
        with self._lock, convert_engine_errors():
            self._connection.execute("PRAGMA busy_timeout = 0")
            try:
                with self._transaction("IMMEDIATE", reads=False) as connection:
                    yield connection
            finally:
                self._connection.execute(f"PRAGMA busy_timeout = {schema.BUSY_MS}")

    @contextmanager
    def _caller_transaction(self, kind: TransactionKind, *, reads: bool = True) -> Iterator[None]:
        """A transaction around a caller's code, whose errors stay; `reads` flushes the postings."""
        with self._lock:
            with convert_engine_errors():
                nested = self._connection.in_transaction
                if nested and (reads or self._pending.is_full()):
                    self._pending.flush(self._database)
                self._connection.execute("SAVEPOINT inner" if nested else f"BEGIN {kind}")
                if not nested:
                    self._pending.entries = []  # some may wait of one that the engine ended itself
            waiting = list(self._pending.entries)
            try:
                yield
                with convert_engine_errors():
                    if not nested:
                        self._pending.flush(self._database)
                    self._connection.execute("RELEASE inner" if nested else "COMMIT")
            except BaseException:
                self._pending.entries = waiting
                # A full disk has ended the whole transaction already.
                with convert_engine_errors():
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK TO inner" if nested else "ROLLBACK")
                raise
