"""CPU work on a few threads, in front of which a bounded number of requests wait.

Rules: what waits may be called off, and then gives up its place at once; what runs keeps its place
until it is done, whoever still waits for it, and where it may be stopped (`stopping.py`) it soon
is; whoever finds all places taken is told so at once, with when to come again.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from fastapi import Request

from foveate.service.problems import ProblemError, busy
from foveate.service.stopping import Stoppable

T = TypeVar("T")

AGAIN = 0.2
"""Seconds after which work that is to end is told again."""


class Gone(Exception):
    """The client went away; nobody reads an answer."""


class Work:
    """`threads` at work, `waiting` more in the queue; `seconds` for each, waiting included.

    `told` is called with the places that are taken, and the threads, whenever that changes.
    """

    def __init__(self, *, threads: int, waiting: int, seconds: float, name: str = "work") -> None:
        self.name = name
        self.told: Callable[[int, int], None] | None = None
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"foveate-{name}")
        self._places = threads + waiting
        self._threads = threads
        self._seconds = seconds
        self.taken = 0

    @property
    def waiting(self) -> int:
        """How many wait, about."""
        return max(0, self.taken - self._threads)

    async def run(self, request: Request, call: Callable[[], T], *, stops: bool = False) -> T:
        """The call's value; raises a 503 or 504 problem, `Gone`, or what the call raises.

        `stops`: it only computes, so it is ended when its time is over, if anybody waits or not.
        """
        if self.taken >= self._places:
            raise busy("all places are taken; come again in a second")
        loop = asyncio.get_running_loop()
        begun = loop.time()
        context = contextvars.copy_context()
        self._take(1)
        job = Stoppable(call)
        done = self._pool.submit(context.run, job)
        done.add_done_callback(lambda _: loop.call_soon_threadsafe(self._take, -1))
        try:
            return await attended(request, asyncio.wrap_future(done), self._seconds)
        except TimeoutError:
            raise self._too_slow(done) from None
        finally:
            if not done.cancel() and stops and not done.done():  # what has not begun never will
                timer = loop.call_at(begun + self._seconds, _end, loop, job, done)
                done.add_done_callback(lambda _: loop.call_soon_threadsafe(timer.cancel))

    def _take(self, places: int) -> None:
        self.taken += places
        if self.told is not None:
            self.told(self.taken, self._threads)

    def _too_slow(self, done: Future[Any]) -> ProblemError:
        if done.cancel():
            return busy("others were before this request for too long; come again", after=2)
        return ProblemError(
            504,
            "too-slow",
            f"it took longer than {self._seconds:g} seconds; send fewer or shorter candidates",
        )

    async def close(self) -> None:
        """Finish what runs; what waits is called off."""
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)


def _end(loop: asyncio.AbstractEventLoop, job: Stoppable[Any], done: Future[Any]) -> None:
    """Have it stopped, and look again: it may have been where it must not be."""
    if not done.done():
        job.stop()
        loop.call_later(AGAIN, _end, loop, job, done)


async def attended(request: Request, work: Awaitable[T], seconds: float | None) -> T:
    """The work's value, as long as the client is there; raises `Gone` or `TimeoutError`."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait((working, leaving), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if leaving.done():
            raise Gone
        raise TimeoutError
    finally:
        for task in (working, leaving):
            task.cancel()


async def _left(request: Request) -> None:
    """Until the client goes away; its body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
