"""Statements as values, so that what is asked of the server is written once for both drivers.

A flow is a generator: it yields a batch of statements, which go to the server in one round trip
where they can, and is sent their rows. `run` drives it over a connection, `arun` in an event loop.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from psycopg import AsyncConnection, Connection

T = TypeVar("T")
Rows: TypeAlias = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and what is bound to its marks."""

    sql: str
    bound: Sequence[Any] = ()


StatementFlow: TypeAlias = Generator[Sequence[Statement], list[Rows], T]


def run_flow(connection: Connection[Any], steps: StatementFlow[T], *, alone: bool = False) -> T:
    """Drive a flow here and now; `alone`: each statement by itself, as VACUUM must be."""
    rows: Any = None
    while not isinstance(step := advance_flow(steps, rows), FlowResult):
        with nullcontext() if alone else connection.pipeline():
            cursors = [connection.cursor(binary=True).execute(ask.sql, ask.bound) for ask in step]
        rows = [cursor.fetchall() if cursor.description else [] for cursor in cursors]
    return step.value  # type: ignore[no-any-return]


async def arun_flow(
    connection: AsyncConnection[Any], steps: StatementFlow[T], *, alone: bool = False
) -> T:
    """Drive a flow in an event loop; what it computes between two batches runs on a thread."""
    import asyncio

    rows: Any = None
    while not isinstance(step := await asyncio.to_thread(advance_flow, steps, rows), FlowResult):
        async with nullcontext() if alone else connection.pipeline():
            cursors = [
                await connection.cursor(binary=True).execute(ask.sql, ask.bound) for ask in step
            ]
        rows = [await cursor.fetchall() if cursor.description else [] for cursor in cursors]
    return step.value  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class FlowResult:
    """A flow that came to its end."""

    value: Any


def advance_flow(steps: StatementFlow[Any], rows: Any) -> Sequence[Statement] | FlowResult:
    """One step of the generator; its end as a value, which a thread can hand back."""
    try:
        return steps.send(rows)
    except StopIteration as done:
        return FlowResult(done.value)
