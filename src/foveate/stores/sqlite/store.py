"""The embedded store: one folder with SQLite and an exact int8 scan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Self

from foveate.core.checks import is_encodable
from foveate.core.errors import ExternalError
from foveate.core.state import combine_states, state_hash
from foveate.core.types import Chunk, Vector
from foveate.ports import Document, SearchResult
from foveate.stores import filters
from foveate.stores.int8 import quantise_or_zeros
from foveate.stores.outlines import wanted_places
from foveate.stores.report import Stats
from foveate.stores.rows import check_counts, counts_by_hash
from foveate.stores.sqlite import contents, schema, search, vectors, write
from foveate.stores.sqlite.schema import load_facts
from foveate.stores.sqlite.transactions import Transactions, convert_engine_errors


class SqliteStore(Transactions):
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
        self.embedder_name: str = found["embedder"]
        self.dimensions: int = found["dimensions"]

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.folder)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def put(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: Any,
        counts: Sequence[int] = (),
        *,
        fingerprint: str = "",
    ) -> None:
        """Replace one document and its chunks in one transaction; raises `BadInput`.

        `vectors`: shape (chunks, dimensions), None for zeros. `counts`: tokens of each
        chunk, kept under the tokenizer's `fingerprint`.
        """
        check_counts(counts, chunks)
        rows = quantise_or_zeros(vectors, rows=len(chunks), dimensions=self.dimensions)
        with self._transaction("IMMEDIATE", reads=False) as connection:
            write.replace_document(connection, self._pending, document, chunks, rows)
            if fingerprint:
                contents.save_counts(connection, fingerprint, counts_by_hash(chunks, counts))

    def delete(self, document_id: str) -> bool:
        """Remove a document and its chunks; False where it was not there."""
        if not is_encodable(document_id):
            return False
        with self._transaction("IMMEDIATE", reads=False) as connection:
            return write.remove_document(connection, self._pending, document_id)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Writes inside are one transaction: all there at the end, or none.

        A refused document is undone alone; other writers wait for the end.
        """
        with self._caller_transaction("IMMEDIATE"):
            yield

    def documents(self) -> Iterator[tuple[str, str]]:
        """(document id, content hash) of every document, by id, as of this moment."""
        with self._transaction("DEFERRED") as connection:
            return iter(contents.list_content_hashes(connection))

    def document(self, document_id: str, *, principals: Iterable[str] = ()) -> Document | None:
        """One document with its text; None where it is not there, or not all of it to be read."""
        with self._transaction("DEFERRED") as connection:
            return contents.load_document(connection, document_id, principals)

    def listed(
        self, *, after: str = "", limit: int = 100, principals: Iterable[str] = ()
    ) -> list[Document]:
        """Up to `limit` documents behind `after` by id, those that `document` gives; no texts."""
        with self._transaction("DEFERRED") as connection:
            return contents.list_documents(connection, after, limit, principals)

    def search(
        self,
        query: str,
        vector: Vector | None,
        *,
        limit: int = 100,
        depth: int = 50,
        principals: Iterable[str] = (),
        where: Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """Cosine and BM25 side by side (`depth` each), fused by RRF, the best `limit`.

        `where`: equality on `source`, `document_id`, `title`, `id`, `section`, `page`,
        `row`, `line`, `sequence` or a metadata key; a list means any of. Filters apply
        before the legs are cut.
        """
        with self._transaction("DEFERRED") as connection:
            known = load_facts(connection)
            self._scan = vectors.load_current_scan(connection, self.folder, self._scan, known)
            return search.hybrid_search(
                connection,
                self._scan,
                query,
                vector,
                facts=known,
                limit=limit,
                depth=depth,
                principals=principals,
                where=where,
            )

    def neighbours(
        self, places: Sequence[tuple[str, int]], window: int, *, principals: Iterable[str] = ()
    ) -> list[Chunk]:
        """Chunks within `window` of (document id, sequence) places, by document and sequence."""
        asked = wanted_places(places, window, is_encodable)
        if not asked:
            return []
        found: dict[int, Chunk] = {}
        with self._transaction("DEFERRED") as connection:
            allowed = {row[0] for row in contents.readable_audiences(connection, principals)}
            for some in filters.iter_batches(asked):
                found.update(search.load_neighbours(connection, some, window, allowed))
        # By code points, as the engine orders; windows of two slices may meet.
        key = attrgetter("document_id", "sequence", "id")
        return sorted(found.values(), key=key)

    def counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        """Token counts already known for these content hashes (who has a hash has the text)."""
        with self._statement() as connection:
            return contents.load_counts(connection, fingerprint, hashes)

    def remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        """Keep token counts; best effort: a store that cannot write only counts again."""
        with suppress(ExternalError), self._best_effort_transaction() as connection:
            contents.save_counts(connection, fingerprint, counts)

    def state_root(self, *, principals: Iterable[str] | None = None) -> str:
        """Hash of the content and the embedder's name, of what `principals` may read if given."""
        with self._transaction("DEFERRED") as connection:
            return self._compute_state_root(connection, principals)

    def _compute_state_root(self, connection: Connection, principals: Iterable[str] | None) -> str:
        states = [row[2] for row in contents.readable_audiences(connection, principals)]
        return state_hash(combine_states(states), embedder=self.embedder_name)

    def stats(self, *, principals: Iterable[str] | None = None) -> Stats:
        """The store in figures; with `principals`, of what they may read alone."""
        readers = None if principals is None else tuple(principals)
        with self._transaction("DEFERRED") as connection:
            documents, chunks, with_vector = contents.count_rows(connection, readers)
            return Stats(
                documents=documents,
                chunks=chunks,
                vectors=with_vector,
                embedder=self.embedder_name,
                dimensions=self.dimensions,
                schema=schema.VERSION,
                state_root=self._compute_state_root(connection, readers),
                bytes={}
                if readers is not None
                else contents.bytes_by_part(connection, self.folder),
            )

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
