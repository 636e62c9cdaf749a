"""Bounded CPU work on a few threads.

A waiting request that is cancelled gives up its place at once. A running one keeps its place until
it ends, which is at its next step (a stage, a search, a batch of embeddings) when its time is over.
A request that finds all places taken is refused at once. Each lane has places of its own: one job
of a lane runs at a time, and after each job the lane goes to the end of the queue. While a job
waits for a call to the outside (`circuit.py`), others take its turn and its place; behind the call
it goes first.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    contextmanager,
    nullcontext,
)
from contextvars import ContextVar
from functools import partial
from math import inf
from time import monotonic
from typing import Any, TypeVar

from starlette.requests import Request

from foveate.service.wire.errors import ProblemError, busy_problem

T = TypeVar("T")

MOST_THREADS = 1_024
"""Threads that run a job or wait for the outside; requests are limited before (`rates.py`)."""


DEADLINE: ContextVar[float] = ContextVar("foveate_deadline", default=inf)
"""When the current work must have ended, by the clock of `monotonic`."""


class DeadlineExceeded(BaseException):
    """Raised in work that is over its time; not an `Exception`, so that no code handles it."""


def check_deadline() -> None:
    """Raise `DeadlineExceeded` if the time of the current work is over."""
    if monotonic() > DEADLINE.get():
        raise DeadlineExceeded


def deadline_observer(_: str) -> AbstractContextManager[None]:
    """An observer that lets no step begin after the deadline."""
    check_deadline()
    return nullcontext()


class ClientDisconnect(Exception):
    """The client disconnected before the response."""


class Turns:
    """A semaphore in whose queue those that come back are before those that have not begun."""

    def __init__(self, free: int) -> None:
        self._free = free
        self._back, self._new = deque[asyncio.Future[None]](), deque[asyncio.Future[None]]()

    async def acquire(self, *, back: bool = False) -> None:
        """Wait for a turn."""
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        (self._back if back else self._new).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()
            raise

    def release(self) -> None:
        """Give the turn to the next one."""
        for queue in (self._back, self._new):
            while queue:
                turn = queue.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._free += 1

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(self, *_: object) -> None:
        self.release()


class WorkerPool:
    """`threads` running requests and `waiting` more, with `seconds` for each, waiting included.

    In a lane, one runs and `waiting` more wait, whatever the other lanes do. `on_change` is called
    with the places taken, and the threads.
    """

    def __init__(self, *, threads: int, waiting: int, seconds: float, name: str = "work") -> None:
        self.name = name
        self.on_change: Callable[[int, int], None] | None = None
        self._pool = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix=f"foveate-{name}")
        self._turns = Turns(threads)
        self._lanes: dict[str, Turns] = {}
        self._queued = set[asyncio.Task[Any]]()
        self._waiting = waiting
        self._threads = threads
        self._seconds = seconds
        self._taken = Counter[str]()

    @property
    def in_use(self) -> int:
        """The number of places taken, in all lanes and outside of them."""
        return self._taken.total()

    async def run(self, request: Request, call: Callable[[], T], *, lane: str = "") -> T:
        """The call's value; raises a 503 or 504 problem, `ClientDisconnect`, or its own error.

        `lane`: it runs after the earlier calls in the lane.
        """
        if self._taken[lane] >= (1 if lane else self._threads) + self._waiting:
            raise busy_problem("all places are taken; come again in a second")
        job = asyncio.create_task(self._run_in_turn(call, lane))
        self._queued.add(job)
        self._change_count(lane, 1)
        job.add_done_callback(partial(self._end, lane))
        try:
            return await run_while_connected(request, asyncio.shield(job), self._seconds)
        except (TimeoutError, DeadlineExceeded):
            if job in self._queued:
                raise busy_problem("others were before this request; come again", after=2) from None
            detail = f"it took longer than {self._seconds:g} seconds; send less at once"
            raise ProblemError(504, "too-slow", detail) from None
        finally:
            if job in self._queued:  # what has not begun never will
                self._queued.remove(job)
                job.cancel()

    async def _run_in_turn(self, call: Callable[[], T], lane: str) -> T:
        """The call's value; in `_queued` until no earlier call of the lane runs and a turn is free.

        It goes on when its client has left: what runs keeps its turn.
        """
        loop, job = asyncio.get_running_loop(), asyncio.current_task()
        assert job is not None
        context = contextvars.copy_context()
        context.run(DEADLINE.set, loop.time() + self._seconds)
        place = 0 if lane else 1  # in a lane, it stays the job's own

        def leave() -> None:
            self._turns.release()
            self._change_count(lane, -place)

        async def come_back() -> None:
            self._change_count(lane, place)
            await self._turns.acquire(back=True)

        turn = (
            partial(loop.call_soon_threadsafe, leave),
            lambda: asyncio.run_coroutine_threadsafe(come_back(), loop).result(),
        )
        context.run(_TURN.set, turn)
        async with AsyncExitStack() as held:
            if lane:
                await held.enter_async_context(self._lanes.setdefault(lane, Turns(1)))
            await held.enter_async_context(self._turns)
            self._queued.remove(job)
            return await loop.run_in_executor(self._pool, partial(context.run, _contain, call))

    def _end(self, lane: str, job: asyncio.Task[Any]) -> None:
        self._change_count(lane, -1)
        if not job.cancelled():
            job.exception()  # so that it is not logged where its client has left

    def _change_count(self, lane: str, places: int) -> None:
        self._taken[lane] += places
        if not self._taken[lane]:
            del self._taken[lane]
            self._lanes.pop(lane, None)
        if self.on_change is not None:
            self.on_change(self.in_use, self._threads)

    async def close(self) -> None:
        """Finish what runs, and cancel what waits."""
        for task in self._queued:
            task.cancel()
        await asyncio.to_thread(self._pool.shutdown, wait=True, cancel_futures=True)


_TURN: ContextVar[tuple[Callable[[], object], Callable[[], object]] | None] = ContextVar(
    "foveate_turn", default=None
)
"""What gives the turn of the job in this context to others, and what takes one again."""


@contextmanager
def wait_outside() -> Iterator[None]:
    """Inside, this thread waits for something else than the processor, and others have its turn."""
    turn = _TURN.get()
    if turn is None:
        yield
        return
    inside = _TURN.set(None)
    turn[0]()
    try:
        yield
    finally:
        turn[1]()
        _TURN.reset(inside)


def outside_observer(step: str) -> AbstractContextManager[None]:
    """An observer that lets others compute while models write shorter versions."""
    return wait_outside() if step == "shorten" else nullcontext()


def _contain(call: Callable[[], T]) -> T:
    """The call's value. What ends a thread or a task must not: a plugin may raise `SystemExit`."""
    try:
        return call()
    except BaseException as error:
        known = isinstance(error, Exception | DeadlineExceeded)
        if known and not isinstance(error, StopIteration):  # which no task can raise
            raise
        raise RuntimeError(f"a call raised {type(error).__name__}") from error


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
