"""The tools over standard input and output, one message a line; logs go to standard error.

It ends with its input or at SIGTERM and SIGINT, and always closes the store.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server

from foveate import plugins
from foveate.core.errors import BadInput
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Embedder, Store
from foveate.service.mcp.server import build_server
from foveate.service.mcp.tool import ToolCallError, ToolContext, ToolLimits
from foveate.service.mcp.tools import Expand, build_tools
from foveate.stores.originals import OriginalStore

T = TypeVar("T")


class CallQueue:
    """`at_work` threads, and at the most `waiting` calls beside; `seconds` for each."""

    def __init__(self, *, at_work: int = 1, waiting: int = 16, seconds: float = 60.0) -> None:
        self._pool = ThreadPoolExecutor(max_workers=at_work, thread_name_prefix="call")
        self._max_calls = at_work + waiting
        self._seconds = seconds
        self._open_calls = 0

    async def __call__(self, work: Callable[[], T]) -> T:
        """The result of the work; raises `ToolCallError` if the queue is full, `TimeoutError`."""
        if self._open_calls >= self._max_calls:
            raise ToolCallError("too many calls are open; wait for one of them, then ask again")
        self._open_calls += 1
        loop = asyncio.get_running_loop()
        running = self._pool.submit(work)
        running.add_done_callback(lambda done: self._on_done(loop, done))
        return await asyncio.wait_for(asyncio.wrap_future(running), self._seconds)

    def close(self, *, wait: bool = True) -> bool:
        """Give up what waits, and wait for what runs; says whether nothing runs any more."""
        self._pool.shutdown(wait=wait, cancel_futures=True)
        return wait or not self._open_calls

    def _on_done(self, loop: asyncio.AbstractEventLoop, _: Future[T]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._release)

    def _release(self) -> None:
        self._open_calls -= 1


log = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


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
    turns = CallQueue(seconds=seconds)
    kept = OriginalStore(originals) if originals else None
    context = _build_context(store, embedder, principals, bounds, kept)
    server = build_server(lambda _: context, turns)

    async def close() -> None:
        if turns.close(wait=False):
            store.close()

    try:
        anyio.run(serve_stdio, server, close)
    finally:
        turns.close()
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
    recipes, formats = plugins.recipe_table(), plugins.component_registry().formats

    def options(*, recipe: str, **named: Any) -> AssembleOptions:
        return AssembleOptions(recipe=recipes[recipe], **named)

    @contextmanager
    def assembler(options: AssembleOptions, *, store: bool) -> Iterator[Assembler]:
        yield Assembler(options=options, **(ports if store else {}))

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
