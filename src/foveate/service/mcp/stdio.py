"""The tools for the process that started us: messages on standard input and output, one a line.

Standard output has the protocol alone; the log goes to standard error. It ends when its input ends
or at SIGTERM and SIGINT, and the store is closed whichever way it ends.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NoReturn

from foveate import plugins
from foveate.core.errors import MissingExtra
from foveate.plan import Plan, plan
from foveate.ports import Embedder, Store
from foveate.service.mcp.bounds import Bounds
from foveate.service.mcp.calls import Desk
from foveate.service.mcp.server import Visit, server_of
from foveate.service.mcp.tools import tools
from foveate.service.mcp.turns import Turns

if TYPE_CHECKING:
    from mcp.server import Server

STOPPING = (signal.SIGTERM, signal.SIGINT)


def serve(
    store: Store,
    embedder: Embedder | None,
    *,
    principals: tuple[str, ...],
    bounds: Bounds,
    seconds: float,
) -> None:
    """Serve the store until the input ends, then close it.

    Whoever has stdin open keeps a thread of ours reading it, which nothing can stop: at a signal
    the process is ended from here, with everything closed.
    """
    try:
        import anyio
    except ImportError:
        raise MissingExtra("mcp", "mcp") from None
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    turns = Turns(seconds=seconds)
    visit = _visit(store, embedder, principals, bounds)
    server = server_of(lambda _: visit, turns)

    def stop(number: int) -> NoReturn:
        if turns.close(wait=False):
            store.close()
        sys.stderr.flush()
        os._exit(128 + number)

    try:
        anyio.run(_until_it_ends, server, stop)
    finally:
        turns.close()
        store.close()


def _visit(
    store: Store, embedder: Embedder | None, principals: tuple[str, ...], bounds: Bounds
) -> Visit:
    """Every request is the same person's."""
    recipes, formats = plugins.recipe_table(), plugins.known().formats

    def settle(*, query: str, recipe: str | None, budget: int, format: str | None) -> Plan:
        chosen = recipes[recipe or "default"]
        return plan(query=query, recipe=chosen, budget=budget, format=format)

    desk = Desk(
        opened=lambda: nullcontext((store, embedder)),
        settle=settle,
        principals=principals,
        bounds=bounds,
    )
    return Visit(desk=desk, tools=tools(bounds, recipes, formats))


async def _until_it_ends(server: Server[Any], stop: Callable[[int], NoReturn]) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    async def watch() -> None:
        with anyio.open_signal_receiver(*STOPPING) as signals:
            async for number in signals:
                stop(number)

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        group.cancel_scope.cancel()
