"""The server store. Safe for threads.

A call takes one connection out of the pool, a batch holds one for all calls inside it, and a read
is one snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from foveate.core.errors import BadOption
from foveate.core.types import Chunk
from foveate.ports import SearchResult
from foveate.stores.base import PutRequest, Report, Search, Stats
from foveate.stores.postgres import connect, contents, write
from foveate.stores.postgres.check import check_store
from foveate.stores.postgres.connect import (
    CurrentBatch,
    connection_settings,
    convert_engine_errors,
    parse_url,
)
from foveate.stores.postgres.schema import VERSION, begin_write, open_schema
from foveate.stores.postgres.search import hybrid_search, load_neighbours
from foveate.stores.postgres.statements import StoreContext
from foveate.stores.postgres.texts import check_storable, is_storable
from foveate.stores.rows import prepare_document
from foveate.stores.sql.contents import compute_stats
from foveate.stores.sql.store import SqlStore


class PostgresStore(SqlStore):
    """A store in a schema of a PostgreSQL database; see `foveate.ports.Store`. Safe for threads.

    `url`: `postgresql://USER@HOST/DATABASE?schema=NAME`; docs/postgres.md.
    """

    def __init__(
        self,
        url: str,
        *,
        embedder_name: str = "",
        dimensions: int = 0,
        create: bool = True,
    ) -> None:
        self._address = where = parse_url(url)
        self._current_batch = CurrentBatch()
        with self._convert_errors():
            import psycopg
            from psycopg_pool import ConnectionPool

            settings = connection_settings(where)
            found = StoreContext(schema=where.schema, exact=where.exact, wait=where.wait)
            with psycopg.Connection.connect(**settings) as connection:
                self._context = open_schema(
                    found.on(connection),
                    where.display_url,
                    embedder=embedder_name,
                    dimensions=dimensions,
                    create=create,
                )
            options = connect.pool_options(where, settings)
            check = ConnectionPool.check_connection
            self._pool = ConnectionPool(check=check, open=True, **options)
        self.embedder_name = self._context.embedder
        self.dimensions = self._context.dimensions

    def __repr__(self) -> str:
        return f"PostgresStore({self._address.display_url!r})"

    def _convert_errors(self) -> AbstractContextManager[None]:
        return convert_engine_errors(self._address.display_url)

    @contextmanager
    def _read_transaction(self, context: StoreContext | None = None) -> Iterator[StoreContext]:
        """In one snapshot; inside a batch, in the batch's transaction, which it cannot break."""
        held = self._current_batch.own_connection()
        with self._transaction(held) as connection:
            yield (context or self._context).on(connection, snapshot=held is None)

    @contextmanager
    def _write_transaction(self) -> Iterator[StoreContext]:
        """In one transaction; inside a batch, undone alone where it fails."""
        with self._transaction(self._current_batch.connection_for_writing()) as connection:
            yield self._context.on(connection)

    @contextmanager
    def _transaction(self, held: Any) -> Iterator[Any]:
        """On a connection that a batch holds, or on one of the pool."""
        with self._convert_errors():
            if held is not None:
                with held.transaction():
                    yield held
            else:
                with self._pool.connection() as connection:
                    yield connection

    def check(self) -> Report:
        """Work out again all that is derived, in one snapshot; see `Report`."""
        with self._read_transaction(replace(self._context, wait=0)) as store:
            return check_store(store)

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Writes inside, of this thread, are one transaction: all there at the end, or none.

        A refused document is undone alone. Other writers wait for the end, other readers
        see the state before. A task or thread that starts inside reads the state before;
        its writes raise `BadOption`.
        """
        if (outer := self._current_batch.connection_for_writing()) is not None:
            with outer.transaction():
                yield
            return
        with self._convert_errors():
            connection = self._pool.getconn()
        try:
            with self._convert_errors():
                begin_write(self._context.on(connection))
            with self._current_batch.hold(connection):
                yield
            with self._convert_errors():
                connection.commit()
        except BaseException:
            with self._convert_errors():
                if not connection.closed:
                    connection.rollback()
            raise
        finally:
            with self._convert_errors():
                self._pool.putconn(connection)

    def compact(self) -> None:
        """Delete unused rows and vacuum; above `exact` chunks, create the vector index."""
        if self._current_batch.connection_for_writing() is not None:
            raise BadOption("compact: not inside a batch; the server does it between transactions")
        with self._write_transaction() as store:
            merged = contents.delete_unused_rows(store)
        with self._convert_errors(), self._pool.connection() as connection:
            connection.autocommit = True
            try:
                store = self._context.on(connection, alone=True)
                contents.vacuum_tables(store, merged=merged > 0)
            finally:
                if not connection.closed:
                    connection.autocommit = False

    def close(self) -> None:
        """Close the connections; a second time does nothing."""
        self._pool.close()

    def _can_hold(self, text: str) -> bool:
        return is_storable(text)

    def _put(self, given: PutRequest) -> None:
        new = prepare_document(given, self.dimensions)
        for fields in ({**new.row, "fingerprint": new.fingerprint}, *new.chunks):
            check_storable(fields)
        with self._write_transaction() as store:
            write.replace_document(store, new)

    def _delete(self, document_id: str) -> bool:
        with self._write_transaction() as store:
            return write.delete_document(store, document_id)

    def _search(self, asked: Search) -> SearchResult:
        with self._read_transaction() as store:
            return hybrid_search(store, asked)

    def _neighbours(
        self, places: list[tuple[str, int]], window: int, principals: tuple[str, ...]
    ) -> Iterable[Chunk]:
        with self._read_transaction() as store:
            return load_neighbours(store, places, window, principals)

    def _remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        if not self._current_batch.is_inherited():  # of a batch that another thread holds open
            with self._write_transaction() as store:
                contents.save_counts(store, fingerprint, counts)

    def _stats(self, principals: tuple[str, ...] | None) -> Stats:
        with self._read_transaction() as store:
            return compute_stats(
                store, principals, schema=VERSION, sizes=lambda: contents.bytes_by_table(store)
            )
