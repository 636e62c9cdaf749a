"""The server store. Safe for threads.

A call takes one connection out of the pool, a batch holds one for all calls inside it, and a read
is one snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from threading import local
from typing import Any

from foveate.core.errors import BadOption
from foveate.stores.base import Report
from foveate.stores.postgres import connect, half_vectors, schema
from foveate.stores.postgres.connect import (
    connection_settings,
    convert_engine_errors,
    parse_url,
)
from foveate.stores.postgres.statements import StoreContext, is_storable, quote_literal
from foveate.stores.sql.audiences import load_audiences
from foveate.stores.sql.check import check_database
from foveate.stores.sql.contents import count_statements
from foveate.stores.sql.database import Statement
from foveate.stores.sql.postings import PendingPostings, Readable
from foveate.stores.sql.store import SqlStore
from foveate.stores.sql.tables import COLUMNS
from foveate.stores.sql.write import delete_unused_rows

_REMEMBER_LOCK = Statement("SELECT set_config('lock_timeout', '200ms', true)")


class PostgresStore(SqlStore[StoreContext]):
    """A store in a schema of a PostgreSQL database; see `foveate.ports.Store`. Safe for threads.

    `url`: `postgresql://USER@HOST/DATABASE?schema=NAME`; docs/postgres.md.
    """

    version = schema.VERSION

    def __init__(
        self,
        url: str,
        *,
        embedder_name: str = "",
        dimensions: int = 0,
        create: bool = True,
    ) -> None:
        self._address = where = parse_url(url)
        self._batch = local()
        with self._convert_errors():
            import psycopg
            from psycopg_pool import ConnectionPool

            settings = connection_settings(where)
            found = StoreContext(schema=where.schema, exact=where.exact, wait=where.wait)
            with psycopg.Connection.connect(**settings) as connection:
                self._context = schema.open_schema(
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

    @property
    def _batch_connection(self) -> Any:
        """The connection of this thread's batch, or None."""
        return getattr(self._batch, "connection", None)

    @contextmanager
    def _read_transaction(self, context: StoreContext | None = None) -> Iterator[StoreContext]:
        with self._transaction() as connection:
            yield (context or self._context).on(connection, snapshot=self._batch_connection is None)

    @contextmanager
    def _write_transaction(self) -> Iterator[tuple[StoreContext, PendingPostings]]:
        with self._transaction() as connection:
            database, pending = self._context.on(connection), PendingPostings()
            yield database, pending
            pending.flush(database)

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """On the connection of this batch, where it may be undone alone, or one of the pool."""
        with self._convert_errors():
            if self._batch_connection is not None:
                with self._batch_connection.transaction():
                    yield self._batch_connection
            else:
                with self._pool.connection() as connection:
                    yield connection

    def check(self) -> Report:
        """Work out again all that is derived, in one snapshot; see `Report`."""

        def compared(store: StoreContext) -> Iterator[str]:
            half_vectors.compare(store, load_audiences(store, None))
            yield from ()

        with self._read_transaction(replace(self._context, wait=0)) as store:
            return check_database(store, compared(store), first={})

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Writes inside, of this thread, are one transaction: all there at the end, or none.

        A refused document is undone alone. Other writers wait for the end, other readers
        see the state before.
        """
        if self._batch_connection is not None:
            with self._batch_connection.transaction():
                yield
            return
        with self._convert_errors():
            connection = self._pool.getconn()
        try:
            with self._convert_errors():
                self._context.on(connection).run(self._context.lock_statement())
            self._batch.connection = connection
            yield
            with self._convert_errors():
                connection.commit()
        except BaseException:
            with self._convert_errors():
                if not connection.closed:
                    connection.rollback()
            raise
        finally:
            self._batch.connection = None
            with self._convert_errors():
                self._pool.putconn(connection)

    def compact(self) -> None:
        """Delete unused rows and vacuum; above `exact` chunks, create the vector index."""
        if self._batch_connection is not None:
            raise BadOption("compact: not inside a batch; the server does it between transactions")
        with self._transaction() as connection:
            store = self._context.on(connection)
            store.run(store.lock_statement())
            merged = delete_unused_rows(store)
        with self._convert_errors(), self._pool.connection() as connection:
            connection.autocommit = True
            try:
                store = self._context.on(connection, alone=True)
                for table in COLUMNS:
                    # Rows that were merged have moved behind what is free.
                    how = "FULL, ANALYZE" if merged and table == "postings" else "ANALYZE"
                    store.rows("VACUUM ({how}) {s}.{table}", how=how, table=table)
                half_vectors.make_index(store)
            finally:
                if not connection.closed:
                    connection.autocommit = False

    def close(self) -> None:
        """Close the connections; a second time does nothing."""
        self._pool.close()

    def _can_hold(self, text: str) -> bool:
        return is_storable(text)

    def _nearest(
        self, database: StoreContext, readable: Readable, aim: Any, matching: Any, depth: int
    ) -> tuple[Any, str]:
        return half_vectors.nearest(database, readable, aim, matching, depth)

    def _remember(self, fingerprint: str, counts: Mapping[str, int]) -> None:
        with self._transaction() as connection:
            store = self._context.on(connection)
            store.run(_REMEMBER_LOCK, *count_statements(store, fingerprint, counts))

    def _sizes(self, database: StoreContext) -> Mapping[str, int]:
        names = [quote_literal(database.table(table)) for table in COLUMNS]
        sizes = ", ".join(f"pg_total_relation_size({name}::regclass)" for name in names)
        (row,) = database.run(Statement(f"SELECT {sizes}"))[0]
        return dict(zip(COLUMNS, row, strict=True))
