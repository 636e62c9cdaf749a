"""The server store for a thread and for an event loop, over one source of operations.

A call takes one connection out of the pool, a batch holds one for all calls inside it, and a read
is one snapshot.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from functools import update_wrapper
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar, cast

from foveate.core.errors import BadOption, ExternalError
from foveate.stores.postgres import connect, contents, write
from foveate.stores.postgres.check import check_store
from foveate.stores.postgres.connect import (
    Address,
    CurrentBatch,
    connection_settings,
    convert_engine_errors,
    parse_url,
)
from foveate.stores.postgres.schema import begin_write
from foveate.stores.postgres.search import hybrid_search, load_neighbours
from foveate.stores.postgres.statements import StatementFlow, StoreContext, arun_flow, run_flow

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

M = TypeVar("M")
P = ParamSpec("P")
T = TypeVar("T")


class _ServerStore:
    """The state of an open store, whichever driver it uses."""

    def __init__(self, where: Address, opened: StoreContext) -> None:
        self._address = where
        self._context = opened
        self._current_batch = CurrentBatch[Any]()
        self.embedder_name: str = opened.embedder
        self.dimensions: int = opened.dimensions

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._address.display_url!r})"

    def _convert_errors(self) -> AbstractContextManager[None]:
        return convert_engine_errors(self._address.display_url)

    def _check_not_in_batch(self) -> None:
        if self._current_batch.connection_for_writing() is not None:
            raise BadOption("compact: not inside a batch; the server does it between transactions")


S = TypeVar("S", bound=_ServerStore)


def _sync_method(
    name: str,
    run: Callable[[S, StatementFlow[T]], T],
    operation: Callable[Concatenate[StoreContext, P], StatementFlow[T]],
) -> Callable[Concatenate[S, P], T]:
    """The operation as a method that `run` drives."""

    def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return run(self, operation(self._context, *args, **kwargs))

    return _with_signature(name, method, operation)


def _async_method(
    name: str,
    run: Callable[[S, StatementFlow[T]], Coroutine[Any, Any, T]],
    operation: Callable[Concatenate[StoreContext, P], StatementFlow[T]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """The operation as a coroutine that `run` drives; its checks run on a thread."""

    async def method(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await run(self, await to_thread(operation, self._context, *args, **kwargs))

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


class PostgresStore(_ServerStore):
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
        where = parse_url(url)
        with convert_engine_errors(where.display_url):
            import psycopg
            from psycopg_pool import ConnectionPool

            settings = connection_settings(where)
            steps = connect.open_address(
                where, embedder=embedder_name, dimensions=dimensions, create=create
            )
            with psycopg.Connection.connect(**settings) as connection:
                opened = run_flow(connection, steps)
            options = connect.pool_options(where, settings)
            check = ConnectionPool.check_connection
            self._pool = ConnectionPool(check=check, open=True, **options)
        super().__init__(where, opened)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

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

    def documents(self) -> Iterator[tuple[str, str]]:
        """(document id, content hash) of every document, by id, as of this moment."""
        return iter(self._run_read(contents.list_content_hashes(self._context)))

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
        self._check_not_in_batch()
        self._run_write(contents.delete_unused_rows(self._context))
        steps = contents.vacuum_tables(self._context)
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


class AsyncPostgresStore(_ServerStore):
    """As `PostgresStore`, for one event loop: `async with await AsyncPostgresStore.open(URL)`.

    All methods of the port are coroutines; a batch belongs to one task.
    """

    def __init__(
        self, where: Address, opened: StoreContext, pool: AsyncConnectionPool[Any]
    ) -> None:
        super().__init__(where, opened)
        self._pool = pool

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        embedder_name: str = "",
        dimensions: int = 0,
        create: bool = True,
    ) -> Self:
        """Open a store; the arguments and errors are those of `open_store`."""
        where = parse_url(url)
        steps = connect.open_address(
            where, embedder=embedder_name, dimensions=dimensions, create=create
        )
        with convert_engine_errors(where.display_url):
            import psycopg
            from psycopg_pool import AsyncConnectionPool

            settings = connection_settings(where)
            async with await psycopg.AsyncConnection.connect(**settings) as connection:
                opened = await arun_flow(connection, steps)
            options = connect.pool_options(where, settings)
            check = AsyncConnectionPool.check_connection
            pool = AsyncConnectionPool(check=check, open=False, **options)
            await pool.open()
        return cls(where, opened, pool)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _run_read(self, steps: StatementFlow[T]) -> T:
        held = self._current_batch.own_connection()
        return await self._run(held, steps if held is not None else connect.in_snapshot(steps))

    async def _run_write(self, steps: StatementFlow[T]) -> T:
        return await self._run(self._current_batch.connection_for_writing(), steps)

    async def _run(self, held: Any, steps: StatementFlow[T]) -> T:
        with self._convert_errors():
            if held is not None:
                async with held.transaction():
                    return await arun_flow(held, steps)
            async with self._pool.connection() as connection:
                return await arun_flow(connection, steps)

    async def _run_best_effort(self, steps: StatementFlow[None]) -> None:
        if not self._current_batch.is_inherited():
            with suppress(ExternalError):
                await self._run_write(steps)

    put = _async_method("put", _run_write, write.put_document)
    delete = _async_method("delete", _run_write, write.delete_document)
    documents = _async_method("documents", _run_read, contents.list_content_hashes)
    document = _async_method("document", _run_read, contents.load_document)
    listed = _async_method("listed", _run_read, contents.list_documents)
    search = _async_method("search", _run_read, hybrid_search)
    neighbours = _async_method("neighbours", _run_read, load_neighbours)
    counts = _async_method("counts", _run_read, contents.load_counts)
    remember = _async_method("remember", _run_best_effort, contents.save_counts)
    state_root = _async_method("state_root", _run_read, contents.compute_state_root)
    stats = _async_method("stats", _run_read, contents.compute_stats)
    check = _async_method("check", _run_read, check_store)

    @asynccontextmanager
    async def batch(self) -> AsyncIterator[None]:
        """As `PostgresStore.batch`, for the writes of this task."""
        if (outer := self._current_batch.connection_for_writing()) is not None:
            async with outer.transaction():
                yield
            return
        with self._convert_errors():
            connection = await self._pool.getconn()
        try:
            with self._convert_errors():
                await arun_flow(connection, begin_write(self._context))
            with self._current_batch.hold(connection):
                yield
            with self._convert_errors():
                await connection.commit()
        except BaseException:
            with self._convert_errors():
                if not connection.closed:
                    await connection.rollback()
            raise
        finally:
            with self._convert_errors():
                await self._pool.putconn(connection)

    async def compact(self) -> None:
        """As `PostgresStore.compact`."""
        self._check_not_in_batch()
        await self._run_write(contents.delete_unused_rows(self._context))
        steps = contents.vacuum_tables(self._context)
        with self._convert_errors():
            async with self._pool.connection() as connection:
                await connection.set_autocommit(True)
                try:
                    await arun_flow(connection, steps, alone=True)
                finally:
                    if not connection.closed:
                        await connection.set_autocommit(False)

    async def close(self) -> None:
        """Close the connections; a second time does nothing."""
        await self._pool.close()
