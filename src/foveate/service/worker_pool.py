"""CPU work on a few threads, in front of which a bounded number of requests wait.

Rules: what waits may be called off, and then gives up its place at once; what runs keeps its place
until it is done, whoever still waits for it, and where it may be stopped (`stopping.py`) it soon
is; whoever finds all places taken is told so at once, with when to come again; each lane
(`lanes.py`) has places of its own, which nobody else can fill.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from fastapi import Request

from foveate.service.cancellation import CancellableCall
from foveate.service.lanes import Lanes
from foveate.service.problems import ProblemError, busy_problem

T = TypeVar("T")

CANCEL_RETRY_SECONDS = 0.2
"""Seconds after which work that is to end is told again."""


class ClientDisconnect(Exception):
    """The client went away; nobody reads an answer."""


class WorkerPool:
    """`threads` at work, `waiting` more in the queue; `seconds` for each, waiting included.

    In a lane, one is at work and `waiting` more wait, whatever the other lanes do. `told` is called
    with the places that are taken, and the threads, whenever that changes.
    """

    def __init__(self, *, threads: int, waiting: int, seconds: float, name: str = "work") -> None:
        self.name = name
        self.on_change: Callable[[int, int], None] | None = None
        self._lanes = Lanes(threads, f"foveate-{name}")
        self._waiting = waiting
        self._threads = threads
        self._seconds = seconds
        self._taken = Counter[str]()

    @property
    def in_use(self) -> int:
        """How many places are taken, in all lanes and outside of them."""
        return self._taken.total()

    @property
    def waiting(self) -> int:
        """How many wait, about."""
        return max(0, self.in_use - self._threads)

    async def run(
        self, request: Request, call: Callable[[], T], *, stops: bool = False, lane: str = ""
    ) -> T:
        """The call's value; raises a 503 or 504 problem, `ClientDisconnect`, or its own error.

        `stops`: it only computes, so it is ended when its time is over, if anybody waits or not.
        `lane`: it begins when those before it in the lane are done.
        """
        if self._taken[lane] >= (1 if lane else self._threads) + self._waiting:
            raise busy_problem("all places are taken; come again in a second")
        loop = asyncio.get_running_loop()
        begun = loop.time()
        context = contextvars.copy_context()
        self._change_count(lane, 1)
        job = CancellableCall(call)
        done = self._lanes.submit(partial(context.run, job), lane)
        done.add_done_callback(lambda _: loop.call_soon_threadsafe(self._change_count, lane, -1))
        try:
            return await run_while_connected(request, asyncio.wrap_future(done), self._seconds)
        except TimeoutError:
            raise self._timeout_problem(done) from None
        finally:
            if not done.cancel() and stops and not done.done():  # what has not begun never will
                timer = loop.call_at(begun + self._seconds, _cancel_repeatedly, loop, job, done)
                done.add_done_callback(lambda _: loop.call_soon_threadsafe(timer.cancel))

    def _change_count(self, lane: str, places: int) -> None:
        self._taken[lane] += places
        if not self._taken[lane]:
            del self._taken[lane]
        if self.on_change is not None:
            self.on_change(self.in_use, self._threads)

    def _timeout_problem(self, done: Future[Any]) -> ProblemError:
        if done.cancel():
            return busy_problem("others were before this request for too long; come again", after=2)
        return ProblemError(
            504,
            "too-slow",
            f"it took longer than {self._seconds:g} seconds; send less at once",
        )

    async def close(self) -> None:
        """Finish what runs; what waits is called off."""
        await asyncio.to_thread(self._lanes.shutdown)


def _cancel_repeatedly(
    loop: asyncio.AbstractEventLoop, job: CancellableCall[Any], done: Future[Any]
) -> None:
    """Have it stopped, and look again: it may have been where it must not be."""
    if not done.done():
        job.cancel()
        loop.call_later(CANCEL_RETRY_SECONDS, _cancel_repeatedly, loop, job, done)


async def run_while_connected(request: Request, work: Awaitable[T], seconds: float | None) -> T:
    """The work's value, as long as the client is there.

    Raises `ClientDisconnect` or `TimeoutError`.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait((working, leaving), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        if leaving.done():
            raise ClientDisconnect
        raise TimeoutError
    finally:
        for task in (working, leaving):
            task.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    """Until the client goes away; its body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
