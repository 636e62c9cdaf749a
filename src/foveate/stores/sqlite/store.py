"""The embedded store: one folder with SQLite and an exact int8 scan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from foveate.stores.base import Report
from foveate.stores.int8 import nearest
from foveate.stores.sql.contents import count_statements, load_counts
from foveate.stores.sql.postings import PendingPostings, Readable
from foveate.stores.sql.store import SqlStore
from foveate.stores.sql.write import delete_unused_rows
from foveate.stores.sqlite import schema, vectors
from foveate.stores.sqlite.check import check
from foveate.stores.sqlite.database import SqliteDatabase
from foveate.stores.sqlite.transactions import Transactions, convert_engine_errors


class SqliteStore(Transactions, SqlStore[SqliteDatabase]):
    """A store in a folder; see `foveate.ports.Store`. Safe to share between threads.

    `embedder_name` and `dimensions`: of a new store (empty and 0: full text alone), or checked.
    """

    version = schema.VERSION

    def __init__(
        self,
        folder: Path,
        *,
        embedder_name: str = "",
        dimensions: int = 0,
        create: bool = True,
    ) -> None:
        self.folder = folder
        self._scan: vectors.Scan | None = None
        with convert_engine_errors():
            found = schema.connect(
                folder, embedder=embedder_name, dimensions=dimensions, create=create
            )
        super().__init__(found)
        self.embedder_name, self.dimensions = found.embedder, found.dimensions

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.folder)!r})"

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Writes inside are one transaction: all there at the end, or none.

        A refused document is undone alone; other writers wait for the end.
        """
        with self._caller_transaction("IMMEDIATE"):
            yield

    def check(self) -> Report:
        """Work out again all that is derived, in one state; what is wrong is a finding."""
        return check(self.folder)

    def compact(self) -> None:
        """Give back the room that deleting left; answers and state root stay as they are."""
        with self._transaction("IMMEDIATE"):
            delete_unused_rows(self._database)
        with self._statement() as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close files and connections; a second time does nothing."""
        with self._lock:
            self._scan = None
            self._connection.close()

    @contextmanager
    def _write_transaction(self) -> Iterator[tuple[SqliteDatabase, PendingPostings]]:
        with self._transaction("IMMEDIATE", reads=False):
            yield self._database, self._pending

    @contextmanager
    def _read_transaction(self) -> Iterator[SqliteDatabase]:
        with self._transaction("DEFERRED"):
            yield self._database

    def _nearest(
        self, database: SqliteDatabase, readable: Readable, aim: Any, matching: Any, depth: int
    ) -> Any:
        self._scan = scan = vectors.load_current_scan(database, self.folder, self._scan)
        wanted = np.isin(scan.audiences, np.array(readable.ids, dtype=np.int32))
        if matching is not None:
            wanted &= np.isin(scan.ids, matching)
        return scan.ids[nearest(scan, aim, None if wanted.all() else wanted, depth)]

    def _counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        # Outside a transaction: inside a batch, one would write the postings that wait.
        with self._statement():
            return load_counts(self._database, fingerprint, hashes)

    def _remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        with self._best_effort_transaction():
            self._database.run(*count_statements(self._database, fingerprint, counts))

    def _sizes(self, database: SqliteDatabase) -> Mapping[str, int]:
        """Bytes by file, and those of the database that are free."""
        pages, page = (
            database.rows(f"PRAGMA {name}")[0][0] for name in ("freelist_count", "page_size")
        )
        found = {"free": pages * page, "database": -pages * page}
        for path in filter(Path.is_file, sorted(self.folder.iterdir())):
            name = _FILES.get(path.name, "left_over")
            found[name] = found.get(name, 0) + path.stat().st_size
        return found


_FILES = {
    schema.DATABASE: "database",
    vectors.FILE: "vectors_file",
    **{f"{schema.DATABASE}-{kind}": "log" for kind in ("wal", "shm")},
}
"""The files of a store; any other is what a killed process left."""
