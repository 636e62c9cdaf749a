"""Connections, sync and async: how a store is opened, and its transactions. No statements of rows.

Rules: one connection out of the pool for a call, and one for a whole batch, which what is called
inside it shares; a read is one snapshot; what is opened is closed, also where opening fails.
"""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any, TypeVar

from foveate.stores.postgres import schema, tables
from foveate.stores.postgres.names import Names
from foveate.stores.postgres.statements import Statement, StatementFlow
from foveate.stores.postgres.url import Address
from foveate.stores.report import StoreMigrationWarning

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool, ConnectionPool

T = TypeVar("T")

SNAPSHOT = Statement("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def open_address(
    where: Address, *, embedder: str, dimensions: int, create: bool, migrate: bool | None
) -> StatementFlow[schema.StoreInfo]:
    """The flow that finds, makes or migrates the store of an address."""
    return schema.open_schema(
        Names(schema=where.schema),
        where.display_url,
        embedder=embedder,
        dimensions=dimensions,
        create=create,
        migrate=create if migrate is None else migrate,
    )


def in_snapshot(steps: StatementFlow[T]) -> StatementFlow[T]:
    """The flow in one read-only snapshot: its first batch says so."""
    try:
        (_, *rows) = yield [SNAPSHOT, *next(steps)]
        while True:
            rows = yield steps.send(rows)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def warn_if_migrated(where: Address, opened: schema.StoreInfo) -> None:
    """Say that older versions no longer open it."""
    if opened.migrated_from:
        warnings.warn(
            f"the store in schema {where.schema!r} of {where.display_url} was brought from schema "
            f"{opened.migrated_from} to {tables.VERSION}; "
            "older versions of foveate no longer open it",
            StoreMigrationWarning,
            stacklevel=4,
        )


def build_pool(where: Address, told: dict[str, Any]) -> ConnectionPool[Any]:
    """A pool whose connections are looked at before use, so that a server may be restarted."""
    from psycopg_pool import ConnectionPool

    return ConnectionPool(
        check=ConnectionPool.check_connection, open=True, **_pool_options(where, told)
    )


def build_async_pool(where: Address, told: dict[str, Any]) -> AsyncConnectionPool[Any]:
    """The same for an event loop; the caller opens it there."""
    from psycopg_pool import AsyncConnectionPool

    check = AsyncConnectionPool.check_connection
    return AsyncConnectionPool(check=check, open=False, **_pool_options(where, told))


def _pool_options(where: Address, told: dict[str, Any]) -> dict[str, Any]:
    # What it says of lost connections is for a log where there is one, not for stderr.
    log = logging.getLogger("psycopg.pool")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    size: dict[str, Any] = {"min_size": 1, "max_size": where.pool, "num_workers": 1}
    # Attempts come ever more rarely, for minutes; given up soon, the next call begins anew.
    wait = float(where.wait)
    times = {"timeout": wait, "reconnect_timeout": wait}
    return {"kwargs": told, "name": "foveate", **size, **times}
