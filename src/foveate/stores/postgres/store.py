"""The server store. Safe for threads.

A call takes one connection out of the pool, a batch holds one for all calls inside it, and a read
is one snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import update_wrapper
from inspect import signature
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from foveate.core.errors import BadOption, ExternalError
from foveate.stores.postgres import connect, contents, write
from foveate.stores.postgres.check import check_store
from foveate.stores.postgres.connect import (
    CurrentBatch,
    connection_settings,
    convert_engine_errors,
    parse_url,
)
from foveate.stores.postgres.schema import begin_write
from foveate.stores.postgres.search import hybrid_search, load_neighbours
from foveate.stores.postgres.statements import StatementFlow, StoreContext, run_flow

M = TypeVar("M")
P = ParamSpec("P")
T = TypeVar("T")


def _sync_method(
    name: str,
    run: Callable[[PostgresStore, StatementFlow[T]], T],
    operation: Callable[Concatenate[StoreContext, P], StatementFlow[T]],
) -> Callable[Concatenate[PostgresStore, P], T]:
    """The operation as a method that `run` drives."""

    def method(self: PostgresStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return run(self, operation(self._context, *args, **kwargs))

    return _with_signature(name, method, operation)


def _with_signature(name: str, method: M, operation: Callable[..., Any]) -> M:
    """The method with the operation's help and signature, and with the flow's result."""
    described: Any = update_wrapper(cast("Any", method), operation)
    described.__name__ = name
    found = signature(operation)
    first, *rest = found.parameters.values()
    result = str(found.return_annotation).removeprefix("StatementFlow[").removesuffix("]")
    described.__signature__ = found.replace(
        parameters=[first.replace(name="self", annotation=first.empty), *rest],
        return_annotation=result,
    )
    return method


class PostgresStore:
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
            steps = connect.open_address(
                where, embedder=embedder_name, dimensions=dimensions, create=create
            )
            with psycopg.Connection.connect(**settings) as connection:
                self._context = run_flow(connection, steps)
            options = connect.pool_options(where, settings)
            check = ConnectionPool.check_connection
            self._pool = ConnectionPool(check=check, open=True, **options)
        self.embedder_name: str = self._context.embedder
        self.dimensions: int = self._context.dimensions

    def __repr__(self) -> str:
        return f"PostgresStore({self._address.display_url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _convert_errors(self) -> AbstractContextManager[None]:
        return convert_engine_errors(self._address.display_url)

    def _run_read(self, steps: StatementFlow[T]) -> T:
        """In one snapshot; inside a batch, in the batch's transaction, which it cannot break."""
        held = self._current_batch.own_connection()
        return self._run(held, steps if held is not None else connect.in_snapshot(steps))

    def _run_write(self, steps: StatementFlow[T]) -> T:
        """In one transaction; inside a batch, undone alone where it fails."""
        return self._run(self._current_batch.connection_for_writing(), steps)

    def _run(self, held: Any, steps: StatementFlow[T]) -> T:
        with self._convert_errors():
            if held is not None:
                with held.transaction():
                    return run_flow(held, steps)
            with self._pool.connection() as connection:
                return run_flow(connection, steps)

    def _run_best_effort(self, steps: StatementFlow[None]) -> None:
        """Write where possible, and never from a thread that was started inside an open batch."""
        if not self._current_batch.is_inherited():
            with suppress(ExternalError):
                self._run_write(steps)

    put = _sync_method("put", _run_write, write.put_document)
    delete = _sync_method("delete", _run_write, write.delete_document)
    document = _sync_method("document", _run_read, contents.load_document)
    listed = _sync_method("listed", _run_read, contents.list_documents)
    search = _sync_method("search", _run_read, hybrid_search)
    neighbours = _sync_method("neighbours", _run_read, load_neighbours)
    counts = _sync_method("counts", _run_read, contents.load_counts)
    remember = _sync_method("remember", _run_best_effort, contents.save_counts)
    state_root = _sync_method("state_root", _run_read, contents.compute_state_root)
    stats = _sync_method("stats", _run_read, contents.compute_stats)
    check = _sync_method("check", _run_read, check_store)

    _documents = _sync_method("documents", _run_read, contents.list_content_hashes)

    def documents(self) -> Iterator[tuple[str, str]]:
        """(document id, content hash) of every document, by id, as of this moment."""
        return iter(self._documents())

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
                run_flow(connection, begin_write(self._context))
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
        merged = self._run_write(contents.delete_unused_rows(self._context))
        steps = contents.vacuum_tables(self._context, merged=merged > 0)
        with self._convert_errors(), self._pool.connection() as connection:
            connection.autocommit = True
            try:
                run_flow(connection, steps, alone=True)
            finally:
                if not connection.closed:
                    connection.autocommit = False

    def close(self) -> None:
        """Close the connections; a second time does nothing."""
        self._pool.close()
