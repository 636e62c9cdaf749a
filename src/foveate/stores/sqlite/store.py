"""The embedded store: one folder with SQLite and an exact int8 scan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from foveate.core.state import combine_states, state_hash
from foveate.core.types import Chunk
from foveate.ports import Document, SearchResult
from foveate.stores import filters
from foveate.stores.base import BaseStore, Report, Search, Stats
from foveate.stores.int8 import quantise_or_zeros
from foveate.stores.rows import check_counts, counts_by_hash
from foveate.stores.sqlite import contents, schema, search, vectors, write
from foveate.stores.sqlite.check import check
from foveate.stores.sqlite.schema import load_facts
from foveate.stores.sqlite.transactions import Transactions, convert_engine_errors


class SqliteStore(Transactions, BaseStore):
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
            write.delete_unused_rows(connection)
        with self._statement() as connection:
            write.shrink_files(connection)

    def close(self) -> None:
        """Close files and connections; a second time does nothing."""
        with self._lock:
            self._scan = None
            self._connection.close()

    def _put(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: Any,
        counts: Sequence[int],
        fingerprint: str,
    ) -> None:
        check_counts(counts, chunks)
        rows = quantise_or_zeros(vectors, rows=len(chunks), dimensions=self.dimensions)
        with self._transaction("IMMEDIATE", reads=False) as connection:
            write.replace_document(connection, self._pending, document, chunks, rows)
            if fingerprint:
                contents.save_counts(connection, fingerprint, counts_by_hash(chunks, counts))

    def _delete(self, document_id: str) -> bool:
        with self._transaction("IMMEDIATE", reads=False) as connection:
            return write.remove_document(connection, self._pending, document_id)

    def _documents(self) -> Iterable[tuple[str, str]]:
        with self._transaction("DEFERRED") as connection:
            return contents.list_content_hashes(connection)

    def _document(self, document_id: str, principals: tuple[str, ...]) -> Document | None:
        with self._transaction("DEFERRED") as connection:
            return contents.load_document(connection, document_id, principals)

    def _listed(self, after: str, limit: int, principals: tuple[str, ...]) -> list[Document]:
        with self._transaction("DEFERRED") as connection:
            return contents.list_documents(connection, after, limit, principals)

    def _search(self, asked: Search) -> SearchResult:
        with self._transaction("DEFERRED") as connection:
            known = load_facts(connection)
            self._scan = vectors.load_current_scan(connection, self.folder, self._scan, known)
            return search.hybrid_search(connection, self._scan, asked, embedder=known["embedder"])

    def _neighbours(
        self, places: list[tuple[str, int]], window: int, principals: tuple[str, ...]
    ) -> Iterable[Chunk]:
        found: dict[int, Chunk] = {}  # windows of two slices may meet
        with self._transaction("DEFERRED") as connection:
            allowed = {row[0] for row in contents.readable_audiences(connection, principals)}
            for some in filters.iter_batches(places):
                found.update(search.load_neighbours(connection, some, window, allowed))
        return found.values()

    def _counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        with self._statement() as connection:
            return contents.load_counts(connection, fingerprint, hashes)

    def _remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        with self._best_effort_transaction() as connection:
            contents.save_counts(connection, fingerprint, counts)

    def _state_root(self, principals: tuple[str, ...] | None) -> str:
        with self._transaction("DEFERRED") as connection:
            return self._compute_state_root(connection, principals)

    def _compute_state_root(self, connection: Connection, principals: Iterable[str] | None) -> str:
        states = [row[2] for row in contents.readable_audiences(connection, principals)]
        return state_hash(combine_states(states), embedder=self.embedder_name)

    def _stats(self, principals: tuple[str, ...] | None) -> Stats:
        with self._transaction("DEFERRED") as connection:
            documents, chunks, with_vector = contents.count_rows(connection, principals)
            everything = principals is None
            return Stats(
                documents=documents,
                chunks=chunks,
                vectors=with_vector,
                embedder=self.embedder_name,
                dimensions=self.dimensions,
                schema=schema.VERSION,
                state_root=self._compute_state_root(connection, principals),
                bytes=contents.bytes_by_part(connection, self.folder) if everything else {},
            )
