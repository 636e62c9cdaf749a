"""The tools over standard input and output, one message a line; logs go to standard error.

It ends with its input or at SIGTERM and SIGINT, and always closes the store.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server

from foveate import plugins
from foveate.core.errors import BadInput
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.observers import combine_observers
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Embedder, Store
from foveate.service.mcp.server import build_server, pool_runner
from foveate.service.mcp.tool import ToolContext, ToolLimits
from foveate.service.mcp.tools import Expand, build_tools
from foveate.service.worker_pool import WorkerPool, deadline_observer
from foveate.stores.originals import OriginalStore

log = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
WAITING = 16
"""Calls that wait for the one that runs."""


def serve(
    store: Store,
    embedder: Embedder | None,
    *,
    principals: tuple[str, ...],
    bounds: ToolLimits,
    seconds: float,
    originals: str = "",
) -> None:
    """Serve the store until the input ends, then close it.

    `originals`: the file that the tool `expand` reads; without it there is no such tool. Raises
    `BadInput` if there is no such file.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    for one in plugins.broken("recipes", "formats"):
        log.warning("%s", one)
    if originals and not Path(originals).is_file():  # opening it would make one
        raise BadInput(f"{originals}: no such file; foveate compact --originals FILE writes one")
    kept = OriginalStore(originals) if originals else None
    context = _build_context(store, embedder, principals, bounds, kept)
    pool = WorkerPool(threads=1, waiting=WAITING, seconds=seconds, name="calls")
    server = build_server(lambda _: context, pool_runner(pool))

    async def close() -> None:
        if not pool.in_use:
            store.close()

    async def run() -> None:
        await serve_stdio(server, close)
        await pool.close()

    try:
        anyio.run(run)
    finally:
        store.close()


def _build_context(
    store: Store,
    embedder: Embedder | None,
    principals: tuple[str, ...],
    bounds: ToolLimits,
    originals: OriginalStore | None = None,
) -> ToolContext:
    """All requests are of one caller."""
    ports: dict[str, Any] = {"store": store, "embedder": embedder}
    observers = combine_observers(deadline_observer)
    recipes, formats = plugins.recipe_table(), plugins.component_registry().formats

    def options(*, recipe: str, **named: Any) -> AssembleOptions:
        return AssembleOptions(recipe=recipes[recipe], **named)

    @contextmanager
    def assembler(options: AssembleOptions, *, store: bool) -> Iterator[Assembler]:
        yield Assembler(options=options, observers=observers, **(ports if store else {}))

    return ToolContext(
        assembler=assembler,
        options=options,
        principals=principals,
        limits=bounds,
        originals=originals if originals is not None else {},
        tools=tuple(
            tool
            for tool in build_tools(bounds, recipes, formats)
            if tool.name != Expand.name or originals is not None
        ),
    )


async def serve_stdio(
    server: Server[Any],
    close: Callable[[], Awaitable[None]],
    changes: NotificationOptions | None = None,
) -> None:
    """Serve until the input ends; at a signal, close and end the process.

    A thread that reads an open stdin cannot be stopped otherwise.
    """

    async def watch() -> None:
        with anyio.open_signal_receiver(*STOP_SIGNALS) as signals:
            async for number in signals:
                await close()
                sys.stderr.flush()
                os._exit(128 + number)

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        async with stdio_server() as (reading, writing):
            options = server.create_initialization_options(changes)
            await server.run(reading, writing, options)
        group.cancel_scope.cancel()
