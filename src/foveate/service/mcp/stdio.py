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
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Embedder, Store
from foveate.service.mcp.bounds import ToolLimits
from foveate.service.mcp.calls import ToolContext
from foveate.service.mcp.server import ToolCall, build_server
from foveate.service.mcp.tools import build_tools
from foveate.service.mcp.turns import CallQueue

if TYPE_CHECKING:
    from mcp.server import Server

log = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def serve(
    store: Store,
    embedder: Embedder | None,
    *,
    principals: tuple[str, ...],
    bounds: ToolLimits,
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
    for one in plugins.broken("recipes", "formats"):
        log.warning("%s", one)
    turns = CallQueue(seconds=seconds)
    visit = _build_call(store, embedder, principals, bounds)
    server = build_server(lambda _: visit, turns)

    def stop(number: int) -> NoReturn:
        if turns.close(wait=False):
            store.close()
        sys.stderr.flush()
        os._exit(128 + number)

    try:
        anyio.run(_run_server, server, stop)
    finally:
        turns.close()
        store.close()


def _build_call(
    store: Store, embedder: Embedder | None, principals: tuple[str, ...], bounds: ToolLimits
) -> ToolCall:
    """Every request is the same person's."""
    recipes, formats = plugins.recipe_table(), plugins.component_registry().formats

    def options(*, recipe: str | None, budget: int, format: str | None) -> AssembleOptions:
        return AssembleOptions(recipe=recipes[recipe or "default"], budget=budget, format=format)

    desk = ToolContext(
        open_store=lambda: nullcontext((store, embedder)),
        options=options,
        principals=principals,
        limits=bounds,
    )
    return ToolCall(context=desk, tools=build_tools(bounds, recipes, formats))


async def _run_server(server: Server[Any], stop: Callable[[int], NoReturn]) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    async def watch() -> None:
        with anyio.open_signal_receiver(*STOP_SIGNALS) as signals:
            async for number in signals:
                stop(number)

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())
        group.cancel_scope.cancel()
