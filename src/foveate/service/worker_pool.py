"""Bounded CPU work on a few threads.

A waiting request that is cancelled gives up its place at once. A running one keeps its place until
it ends, which is at its next step (`deadline.py`) when its time is over. A request that finds all
places taken is refused at once. Each lane has places of its own: one job of a lane runs at a time,
and after each job the lane goes to the end of the queue for threads.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Barrier, BrokenBarrierError
from typing import Any, TypeVar

from fastapi import Request

from foveate.service.deadline import DEADLINE, DeadlineExceeded
from foveate.service.problems import ProblemError, busy_problem

T = TypeVar("T")

THREAD_START_SECONDS = 5.0
"""Seconds that threads wait for one another where all of them run the same."""


class ClientDisconnect(Exception):
    """The client disconnected before the response."""


class WorkerPool:
    """`threads` running requests and `waiting` more, with `seconds` for each, waiting included.

    In a lane, one runs and `waiting` more wait, whatever the other lanes do. `on_change` is called
    with the places taken, and the threads.
    """

    def __init__(self, *, threads: int, waiting: int, seconds: float, name: str = "work") -> None:
        self.name = name
        self.on_change: Callable[[int, int], None] | None = None
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"foveate-{name}")
        self._lanes: dict[str, asyncio.Lock] = {}
        self._queued = set[asyncio.Task[Any]]()
        self._waiting = waiting
        self._threads = threads
        self._seconds = seconds
        self._taken = Counter[str]()

    @property
    def in_use(self) -> int:
        """The number of places taken, in all lanes and outside of them."""
        return self._taken.total()

    @property
    def waiting(self) -> int:
        """About how many requests wait."""
        return max(0, self.in_use - self._threads)

    async def run(self, request: Request, call: Callable[[], T], *, lane: str = "") -> T:
        """The call's value; raises a 503 or 504 problem, `ClientDisconnect`, or its own error.

        `lane`: it runs after the earlier calls in the lane.
        """
        if self._taken[lane] >= (1 if lane else self._threads) + self._waiting:
            raise busy_problem("all places are taken; come again in a second")
        context = contextvars.copy_context()
        context.run(DEADLINE.set, asyncio.get_running_loop().time() + self._seconds)
        self._change_count(lane, 1)
        started: list[Future[T]] = []
        work = self._run_in_turn(partial(context.run, call), lane, started)
        try:
            return await run_while_connected(request, work, self._seconds)
        except (TimeoutError, DeadlineExceeded):
            raise self._timeout_problem(started) from None
        finally:
            if started:
                started[0].cancel()
            else:  # what has not begun never will
                self._change_count(lane, -1)

    async def _run_in_turn(self, call: Callable[[], T], lane: str, started: list[Future[T]]) -> T:
        """The call's value; `started` gets its future once no earlier call of the lane runs."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        turn = self._lanes.setdefault(lane, asyncio.Lock()) if lane else None
        if turn is not None:
            self._queued.add(task)
            try:
                await turn.acquire()
            finally:
                self._queued.remove(task)

        def end() -> None:
            if turn is not None:
                turn.release()
            self._change_count(lane, -1)

        try:
            started.append(self._pool.submit(call))
        except RuntimeError:  # the pool is shut down
            if turn is not None:
                turn.release()
            raise
        started[0].add_done_callback(lambda _: loop.call_soon_threadsafe(end))
        return await asyncio.wrap_future(started[0])

    async def run_on_each_thread(self, call: Callable[[], None]) -> None:
        """Run the call once on every thread, all threads at the same time."""
        together = Barrier(self._threads)

        def run() -> None:
            with suppress(BrokenBarrierError):
                together.wait(THREAD_START_SECONDS)  # so that no thread takes two
            call()

        await asyncio.gather(
            *(asyncio.wrap_future(self._pool.submit(run)) for _ in range(self._threads))
        )

    def _change_count(self, lane: str, places: int) -> None:
        self._taken[lane] += places
        if not self._taken[lane]:
            del self._taken[lane]
            self._lanes.pop(lane, None)
        if self.on_change is not None:
            self.on_change(self.in_use, self._threads)

    def _timeout_problem(self, started: list[Future[T]]) -> ProblemError:
        if not started or started[0].cancel():
            return busy_problem("others were before this request for too long; come again", after=2)
        detail = f"it took longer than {self._seconds:g} seconds; send less at once"
        return ProblemError(504, "too-slow", detail)

    async def close(self) -> None:
        """Finish what runs, and cancel what waits."""
        for task in self._queued:
            task.cancel()
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)


async def run_while_connected(request: Request, work: Awaitable[T], seconds: float | None) -> T:
    """The work's value, while the client is connected.

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
    """Wait until the client disconnects; the body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
