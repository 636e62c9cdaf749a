"""The embedded store: one folder with SQLite and an exact int8 scan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection

from foveate.core.types import Chunk
from foveate.ports import SearchResult
from foveate.stores.base import PutRequest, Report, Search, Stats
from foveate.stores.int8 import quantise_or_zeros
from foveate.stores.sql.contents import compute_stats, count_rows, load_counts
from foveate.stores.sql.store import SqlStore
from foveate.stores.sqlite import schema, search, vectors, write
from foveate.stores.sqlite.check import check
from foveate.stores.sqlite.database import SqliteDatabase
from foveate.stores.sqlite.schema import load_facts
from foveate.stores.sqlite.transactions import Transactions, convert_engine_errors


class SqliteStore(Transactions, SqlStore):
    """A store in a folder; see `foveate.ports.Store`. Safe to share between threads.

    `embedder_name` and `dimensions`: of a new store (empty and 0: full text alone), or checked.
    """

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
            connection = schema.connect(
                folder,
                embedder=embedder_name,
                dimensions=dimensions,
                create=create,
            )
            super().__init__(connection)
            found = load_facts(self._connection)
        self.embedder_name = found["embedder"]
        self.dimensions = found["dimensions"]

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
        with self._transaction("IMMEDIATE") as connection:
            write.delete_unused_rows(self._database(connection))
        with self._statement() as connection:
            write.shrink_files(connection)

    def close(self) -> None:
        """Close files and connections; a second time does nothing."""
        with self._lock:
            self._scan = None
            self._connection.close()

    def _put(self, given: PutRequest) -> None:
        rows = quantise_or_zeros(given.vectors, rows=len(given.chunks), dimensions=self.dimensions)
        with self._transaction("IMMEDIATE", reads=False) as connection:
            database = self._database(connection)
            write.replace_document(database, self._pending, given.document, given.chunks, rows)
            if self._can_hold(given.fingerprint):
                _save_counts(connection, given.fingerprint, given.counts_by_hash())

    def _delete(self, document_id: str) -> bool:
        with self._transaction("IMMEDIATE", reads=False) as connection:
            return write.remove_document(self._database(connection), self._pending, document_id)

    @contextmanager
    def _read_transaction(self) -> Iterator[SqliteDatabase]:
        with self._transaction("DEFERRED") as connection:
            yield self._database(connection)

    def _database(self, connection: Connection) -> SqliteDatabase:
        return SqliteDatabase(
            connection=connection, embedder=self.embedder_name, dimensions=self.dimensions
        )

    def _search(self, asked: Search) -> SearchResult:
        with self._read_transaction() as database:
            known = load_facts(database.connection)
            self._scan = vectors.load_current_scan(
                database.connection, self.folder, self._scan, known
            )
            return search.hybrid_search(database, self._scan, asked, embedder=known["embedder"])

    def _neighbours(
        self, places: list[tuple[str, int]], window: int, principals: tuple[str, ...]
    ) -> Iterable[Chunk]:
        with self._read_transaction() as database:
            return search.load_neighbours(database, places, window, principals)

    def _counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        # Outside a transaction: inside a batch, one would write the postings that wait.
        with self._statement() as connection:
            return load_counts(self._database(connection), fingerprint, hashes)

    def _remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        with self._best_effort_transaction() as connection:
            _save_counts(connection, fingerprint, counts)

    def _stats(self, principals: tuple[str, ...] | None) -> Stats:
        with self._read_transaction() as database:
            return compute_stats(
                database,
                principals,
                schema=schema.VERSION,
                sizes=lambda: _sizes(database.connection, self.folder),
            )


_FILES = {
    schema.DATABASE: "database",
    vectors.FILE: "vectors_file",
    **{f"{schema.DATABASE}-{kind}": "log" for kind in ("wal", "shm")},
}
"""The files of a store; any other is what a killed process left."""


def _sizes(connection: Connection, folder: Path) -> dict[str, int]:
    """Bytes by file, and those of the database that are free."""
    pages, page = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("freelist_count", "page_size")
    )
    found = {"free": pages * page, "database": -pages * page}
    for path in filter(Path.is_file, sorted(folder.iterdir())):
        name = _FILES.get(path.name, "left_over")
        found[name] = found.get(name, 0) + path.stat().st_size
    return found


def _save_counts(connection: Connection, fingerprint: str, counts: Mapping[str, int]) -> None:
    rows = count_rows(fingerprint, counts)
    connection.executemany("INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", rows)
