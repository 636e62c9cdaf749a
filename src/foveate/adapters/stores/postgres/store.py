"""The server store, sync: one pool, a connection a call. Not the statements, the doors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from foveate.adapters.stores.int8 import quantised
from foveate.adapters.stores.postgres import check, connect, kept, known, search, write
from foveate.adapters.stores.postgres.flow import Flow, run
from foveate.adapters.stores.postgres.guard import guard
from foveate.adapters.stores.postgres.held import Batches
from foveate.adapters.stores.postgres.memory import Memory
from foveate.adapters.stores.postgres.schema import refuse_moved, writing
from foveate.adapters.stores.postgres.url import address, settings
from foveate.adapters.stores.report import Report, Stats
from foveate.core.errors import BadOption, OutsideFailure
from foveate.core.types import Chunk, Vector
from foveate.ports import Document, Found

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")


class PostgresStore:
    """A store in a schema of a PostgreSQL database; see `foveate.ports.Store`. Safe for threads.

    `url`: `postgresql://USER@HOST/DATABASE?schema=NAME`; docs/postgres.md. `embedder_name` and
    `dimensions` are asked of a new store and checked against an existing one where given.
    """

    def __init__(
        self,
        url: str,
        *,
        embedder_name: str = "",
        dimensions: int = 0,
        create: bool = True,
        migrate: bool | None = None,
    ) -> None:
        self._where = where = address(url)
        self._batches = Batches[Any]()
        with guard(where.shown):
            import psycopg

            told = settings(where)
            steps = connect.opening(
                where,
                embedder=embedder_name,
                dimensions=dimensions,
                create=create,
                migrate=migrate,
            )
            with psycopg.Connection.connect(**told) as connection:
                opened = run(connection, steps)
            connect.warn_migrated(where, opened)
            self._pool = connect.pool(where, told)
        self._names = opened.names
        self._memory = Memory()
        self.embedder_name: str = opened.embedder
        self.dimensions: int = opened.names.dimensions

    def __repr__(self) -> str:
        return f"PostgresStore({self._where.shown!r})"

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

        `vectors`: shape (chunks, dimensions), None for zeros. `counts`: tokens of each chunk,
        remembered where the tokenizer's `fingerprint` is given.
        """
        rows = quantised(vectors, rows=len(chunks), dimensions=self.dimensions)
        new = write.prepared(document, chunks, rows, counts, fingerprint)
        self._write(write.put(self._names, new))

    def delete(self, document_id: str) -> bool:
        """Remove a document and its chunks; False where it was not there."""
        return self._write(write.delete(self._names, document_id))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Writes inside, of this thread, are one transaction: all there at the end, or none.

        A document that is refused inside is undone alone; catch its error and go on. Other
        writers wait for the end; readers elsewhere see the state before. A task or thread that
        is started inside is elsewhere too: it reads the state before, and until the end a write
        of its own raises `BadOption`.
        """
        if (outer := self._batches.to_write()) is not None:
            with outer.transaction():
                yield
            return
        with guard(self._where.shown):
            connection = self._pool.getconn()
        try:
            with self._held(connection):
                yield
        finally:
            with guard(self._where.shown):
                self._pool.putconn(connection)

    @contextmanager
    def _held(self, connection: Connection[Any]) -> Iterator[None]:
        """The connection is this context's for a while; the caller's errors stay as they are."""
        shown = self._where.shown
        try:
            with guard(shown):
                (_, ((version,),)) = run(connection, _asked(writing(self._names)))
            refuse_moved(version)
            begun = self._batches.begin(connection)
            try:
                yield
            finally:
                self._batches.end(begun)
            with guard(shown):
                connection.commit()
        except BaseException:
            if not connection.closed:
                with guard(shown):
                    connection.rollback()
            raise

    def documents(self) -> Iterator[tuple[str, str]]:
        """(document id, content hash) of every document, by id, as of this moment."""
        return iter(self._read(kept.documents(self._names)))

    def document(self, document_id: str, *, principals: Iterable[str] = ()) -> Document | None:
        """One document with its text; None where it is not there, or not all of it to be read."""
        return self._read(kept.document(self._names, document_id, principals))

    def listed(
        self, *, after: str = "", limit: int = 100, principals: Iterable[str] = ()
    ) -> list[Document]:
        """Up to `limit` documents behind `after` by id, those that `document` gives; no texts."""
        return self._read(kept.listed(self._names, after, limit, principals))

    def search(
        self,
        query: str,
        vector: Vector | None,
        *,
        limit: int = 100,
        depth: int = 50,
        principals: Iterable[str] = (),
        where: Mapping[str, Any] | None = None,
    ) -> Found:
        """Cosine and BM25 side by side (`depth` each), fused by RRF, the best `limit`.

        `where` as in the embedded store. Filters apply before the legs are cut, so a filtered
        search is as full as an open one.
        """
        steps = search.find(
            self._names,
            self.embedder_name,
            query,
            vector,
            limit=limit,
            depth=depth,
            principals=tuple(principals),
            where=where,
            exact=self._where.exact,
            memory=self._memory,
        )
        return self._read(steps)

    def neighbours(
        self, places: Sequence[tuple[str, int]], window: int, *, principals: Iterable[str] = ()
    ) -> list[Chunk]:
        """Chunks within `window` of the (document id, sequence) places; one statement.

        Ordered by document id, sequence, chunk id; those at the places themselves included.
        """
        return self._read(search.neighbours(self._names, places, window, principals))

    def counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        """Token counts already known for these content hashes (who has a hash has the text)."""
        return self._read(known.counts(self._names, fingerprint, hashes))

    def remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        """Keep token counts; best effort: a store that cannot write only counts again."""
        with suppress(OutsideFailure):
            self._note(known.remember(self._names, fingerprint, counts))

    def readings(self, version: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """What was kept of these texts under this version (who has a hash has the text)."""
        return self._read(known.readings(self._names, version, hashes))

    def keep(self, version: str, readings: Mapping[str, bytes]) -> None:
        """Keep what is known of texts; best effort: a store that cannot write only reads again."""
        with suppress(OutsideFailure):
            self._note(known.keep(self._names, version, readings))

    def state_root(self, *, principals: Iterable[str] | None = None) -> str:
        """Hash of the content and of the embedder's name; of what `principals` may read, if given.

        It does not depend on the order of writes, and tells nothing of what may not be read.
        """
        return self._read(kept.state_root(self._names, self.embedder_name, principals))

    def stats(self, *, principals: Iterable[str] | None = None) -> Stats:
        """The store in figures; with `principals`, of what they may read alone."""
        return self._read(kept.stats(self._names, self.embedder_name, principals))

    def check(self) -> Report:
        """Work out again all that is derived, in one snapshot; see `report.Report`."""
        return self._read(check.checked(self._names, self.embedder_name))

    def compact(self) -> None:
        """Forget what nothing uses, and have the server make the room of deleted rows usable.

        With more chunks than `exact` in the URL, make the approximate index of vectors too.
        """
        if self._batches.to_write() is not None:
            raise BadOption("compact: not inside a batch; the server does it between transactions")
        self._write(kept.forgetting(self._names))
        with guard(self._where.shown):
            connection = self._pool.getconn()
            try:
                connection.autocommit = True
                run(connection, kept.vacuuming(self._names, self._where.exact), alone=True)
            finally:
                if not connection.closed:
                    connection.autocommit = False
                self._pool.putconn(connection)

    def close(self) -> None:
        """Let go of the connections; a second time does nothing."""
        self._pool.close()

    def _read(self, steps: Flow[T]) -> T:
        """In one snapshot; inside a batch, in the batch's transaction, which it cannot break."""
        with guard(self._where.shown):
            if (held := self._batches.mine()) is not None:
                with held.transaction():
                    return run(held, steps)
            with self._pool.connection() as connection:
                return run(connection, connect.snapshot(steps))

    def _write(self, steps: Flow[T]) -> T:
        """In one transaction; inside a batch, undone alone where it fails."""
        with guard(self._where.shown):
            if (held := self._batches.to_write()) is not None:
                with held.transaction():
                    return run(held, steps)
            with self._pool.connection() as connection:
                return run(connection, steps)

    def _note(self, steps: Flow[None]) -> None:
        """For what need not be written: not by who was started inside a batch that is open."""
        if not self._batches.inherited():
            self._write(steps)


def _asked(asks: Any) -> Flow[Any]:
    """A flow of one batch: its rows."""
    return (yield asks)
