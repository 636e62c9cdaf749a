"""Calls one after another on a thread of their own, so that the protocol goes on meanwhile.

Work cannot be stopped once it runs: a call that is given up, or whose client has gone, keeps its
place until the thread is done with it, so that the bound on open calls is true.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from foveate.service.mcp.failures import ToolCallError

T = TypeVar("T")


class CallQueue:
    """`at_work` threads, and at the most `waiting` calls beside; `seconds` for each."""

    def __init__(self, *, at_work: int = 1, waiting: int = 16, seconds: float = 60.0) -> None:
        self._pool = ThreadPoolExecutor(max_workers=at_work, thread_name_prefix="call")
        self._max_calls = at_work + waiting
        self._seconds = seconds
        self._open_calls = 0

    async def __call__(self, work: Callable[[], T]) -> T:
        """The outcome of the work.

        Raises `ToolCallError` when there is no place, `TimeoutError`.
        """
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
