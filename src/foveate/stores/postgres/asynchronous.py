"""The server store for an event loop: the same statements, awaited."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from foveate.core.errors import BadOption, ExternalError
from foveate.core.types import Chunk, Vector
from foveate.ports import Document, SearchResult
from foveate.stores.int8 import quantise_or_zeros
from foveate.stores.postgres import check, connect, contents, search, write
from foveate.stores.postgres.connect import (
    Address,
    CurrentBatch,
    connection_settings,
    convert_engine_errors,
    parse_url,
)
from foveate.stores.postgres.postings import PostingsCache
from foveate.stores.postgres.schema import StoreInfo, begin_write_statements, check_schema_version
from foveate.stores.postgres.statements import StatementFlow, arun_flow
from foveate.stores.report import Report, Stats

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool

T = TypeVar("T")


class AsyncPostgresStore:
    """As `PostgresStore`, for an event loop: `async with await AsyncPostgresStore.open(URL)`.

    All methods of the port are coroutines; `Assembler.asearch` and `aassemble` await them. For
    one event loop, and for as many tasks of it as one likes; a batch is of one task alone.
    """

    def __init__(self, where: Address, opened: StoreInfo, pool: AsyncConnectionPool[Any]) -> None:
        self._address = where
        self._pool = pool
        self._names = opened.names
        self._postings_cache = PostingsCache()
        self._current_batch = CurrentBatch[Any]()
        self.embedder_name: str = opened.embedder
        self.dimensions: int = opened.names.dimensions

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        embedder_name: str = "",
        dimensions: int = 0,
        create: bool = True,
        migrate: bool | None = None,
    ) -> Self:
        """Open a store; the arguments and errors are those of `open_store`."""
        where = parse_url(url)
        steps = connect.open_address(
            where, embedder=embedder_name, dimensions=dimensions, create=create, migrate=migrate
        )
        with convert_engine_errors(where.display_url):
            import psycopg

            told = connection_settings(where)
            async with await psycopg.AsyncConnection.connect(**told) as connection:
                opened = await arun_flow(connection, steps)
            connect.warn_if_migrated(where, opened)
            pool = connect.build_async_pool(where, told)
            await pool.open()
        return cls(where, opened, pool)

    def __repr__(self) -> str:
        return f"AsyncPostgresStore({self._address.display_url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def put(
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
        rows = quantise_or_zeros(vectors, rows=len(chunks), dimensions=self.dimensions)
        new = await to_thread(write.prepare_document, document, chunks, rows, counts, fingerprint)
        await self._run_write(write.replace_document(self._names, new))

    async def delete(self, document_id: str) -> bool:
        """Remove a document and its chunks; False where it was not there."""
        return await self._run_write(write.delete_document(self._names, document_id))

    @asynccontextmanager
    async def batch(self) -> AsyncIterator[None]:
        """Writes inside, of this task, are one transaction: all there at the end, or none.

        A document that is refused inside is undone alone; catch its error and go on. Other
        writers wait for the end; readers elsewhere see the state before. A task that is started
        inside is elsewhere too: it reads the state before, and until the end a write of its own
        raises `BadOption`.
        """
        if (outer := self._current_batch.connection_for_writing()) is not None:
            async with outer.transaction():
                yield
            return
        with convert_engine_errors(self._address.display_url):
            connection = await self._pool.getconn()
        try:
            async with self._batch_transaction(connection):
                yield
        finally:
            with convert_engine_errors(self._address.display_url):
                await self._pool.putconn(connection)

    @asynccontextmanager
    async def _batch_transaction(self, connection: AsyncConnection[Any]) -> AsyncIterator[None]:
        """The connection is this context's for a while; the caller's errors stay as they are."""
        shown = self._address.display_url
        try:
            with convert_engine_errors(shown):
                (_, ((version,),)) = await arun_flow(
                    connection, _single_batch(begin_write_statements(self._names))
                )
            check_schema_version(version)
            begun = self._current_batch.begin(connection)
            try:
                yield
            finally:
                self._current_batch.end(begun)
            with convert_engine_errors(shown):
                await connection.commit()
        except BaseException:
            if not connection.closed:
                with convert_engine_errors(shown):
                    await connection.rollback()
            raise

    async def documents(self) -> list[tuple[str, str]]:
        """(document id, content hash) of every document, by id, as of this moment."""
        return await self._run_read(contents.list_content_hashes(self._names))

    async def document(
        self, document_id: str, *, principals: Iterable[str] = ()
    ) -> Document | None:
        """One document with its text; None where it is not there, or not all of it to be read."""
        return await self._run_read(contents.load_document(self._names, document_id, principals))

    async def listed(
        self, *, after: str = "", limit: int = 100, principals: Iterable[str] = ()
    ) -> list[Document]:
        """Up to `limit` documents behind `after` by id, those that `document` gives; no texts."""
        return await self._run_read(contents.list_documents(self._names, after, limit, principals))

    async def search(
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

        `where` as in the embedded store. Filters apply before the legs are cut, so a filtered
        search is as full as an open one.
        """
        steps = search.hybrid_search(
            self._names,
            self.embedder_name,
            query,
            vector,
            limit=limit,
            depth=depth,
            principals=tuple(principals),
            where=where,
            exact=self._address.exact,
            memory=self._postings_cache,
        )
        return await self._run_read(steps)

    async def neighbours(
        self, places: Sequence[tuple[str, int]], window: int, *, principals: Iterable[str] = ()
    ) -> list[Chunk]:
        """Chunks within `window` of the (document id, sequence) places; one statement.

        Ordered by document id, sequence, chunk id; those at the places themselves included.
        """
        return await self._run_read(search.load_neighbours(self._names, places, window, principals))

    async def counts(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
        """Token counts already known for these content hashes (who has a hash has the text)."""
        return await self._run_read(contents.load_counts(self._names, fingerprint, hashes))

    async def remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        """Keep token counts; best effort: a store that cannot write only counts again."""
        with suppress(ExternalError):
            await self._run_best_effort(contents.save_counts(self._names, fingerprint, counts))

    async def readings(self, version: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """What was kept of these texts under this version (who has a hash has the text)."""
        return await self._run_read(contents.load_analyses(self._names, version, hashes))

    async def keep(self, version: str, readings: Mapping[str, bytes]) -> None:
        """Keep what is known of texts; best effort: a store that cannot write only reads again."""
        with suppress(ExternalError):
            await self._run_best_effort(contents.save_analyses(self._names, version, readings))

    async def state_root(self, *, principals: Iterable[str] | None = None) -> str:
        """Hash of the content and of the embedder's name; of what `principals` may read, if given.

        It does not depend on the order of writes, and tells nothing of what may not be read.
        """
        return await self._run_read(
            contents.compute_state_root(self._names, self.embedder_name, principals)
        )

    async def stats(self, *, principals: Iterable[str] | None = None) -> Stats:
        """The store in figures; with `principals`, of what they may read alone."""
        return await self._run_read(
            contents.compute_stats(self._names, self.embedder_name, principals)
        )

    async def check(self) -> Report:
        """Work out again all that is derived, in one snapshot; see `report.Report`."""
        return await self._run_read(check.check_store(self._names, self.embedder_name))

    async def compact(self) -> None:
        """Forget what nothing uses, and have the server make the room of deleted rows usable.

        With more chunks than `exact` in the URL, make the approximate index of vectors too.
        """
        if self._current_batch.connection_for_writing() is not None:
            raise BadOption("compact: not inside a batch; the server does it between transactions")
        await self._run_write(contents.delete_unused_rows(self._names))
        with convert_engine_errors(self._address.display_url):
            connection = await self._pool.getconn()
            try:
                await connection.set_autocommit(True)
                await arun_flow(
                    connection, contents.vacuum_tables(self._names, self._address.exact), alone=True
                )
            finally:
                if not connection.closed:
                    await connection.set_autocommit(False)
                await self._pool.putconn(connection)

    async def close(self) -> None:
        """Let go of the connections; a second time does nothing."""
        await self._pool.close()

    async def _run_read(self, steps: StatementFlow[T]) -> T:
        """In one snapshot; inside a batch, in the batch's transaction, which it cannot break."""
        with convert_engine_errors(self._address.display_url):
            if (held := self._current_batch.own_connection()) is not None:
                async with held.transaction():
                    return await arun_flow(held, steps)
            async with self._pool.connection() as connection:
                return await arun_flow(connection, connect.in_snapshot(steps))

    async def _run_write(self, steps: StatementFlow[T]) -> T:
        """In one transaction; inside a batch, undone alone where it fails."""
        with convert_engine_errors(self._address.display_url):
            if (held := self._current_batch.connection_for_writing()) is not None:
                async with held.transaction():
                    return await arun_flow(held, steps)
            async with self._pool.connection() as connection:
                return await arun_flow(connection, steps)

    async def _run_best_effort(self, steps: StatementFlow[None]) -> None:
        """For what need not be written: not by who was started inside a batch that is open."""
        if not self._current_batch.is_inherited():
            await self._run_write(steps)


def _single_batch(asks: Any) -> StatementFlow[Any]:
    """A flow of one batch: its rows."""
    return (yield asks)
