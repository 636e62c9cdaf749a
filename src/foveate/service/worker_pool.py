"""Bounded CPU work on a few threads.

A waiting request that is cancelled gives up its place at once. A running one keeps its place until
it ends, and is cancelled (`cancellation.py`) when its time is over. A request that finds all
places taken is refused at once. Each lane has places of its own: one job of a lane runs at a time,
and after each job the lane goes to the end of the queue for threads.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Barrier, BrokenBarrierError, Lock
from typing import Any, TypeVar

from fastapi import Request

from foveate.service.cancellation import CancellableCall
from foveate.service.problems import ProblemError, busy_problem


@dataclass(slots=True)
class _Job:
    call: Callable[[], Any] | None
    done: Future[Any]

    def forget(self, _: object) -> None:
        """Release what the job holds."""
        self.call = None


class Lanes:
    """Threads with a queue for each lane; other jobs run in their order of arrival."""

    def __init__(self, threads: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = Lock()
        self._jobs: dict[str, deque[_Job]] = {}
        self._closed = False

    def submit(self, call: Callable[[], Any], lane: str = "") -> Future[Any]:
        """The future of a job; it may be cancelled before it runs."""
        if not lane:
            return self._pool.submit(call)
        job = _Job(call, Future())
        job.done.add_done_callback(job.forget)
        with self._lock:
            jobs = self._jobs.setdefault(lane, deque())
            jobs.append(job)
            if len(jobs) == 1:
                self._pool.submit(self._run, lane, job)
        return job.done

    def shutdown(self) -> None:
        """Finish running jobs, and cancel waiting ones."""
        with self._lock:
            self._closed = True
            for jobs in self._jobs.values():
                for job in jobs:
                    job.done.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, lane: str, job: _Job) -> None:
        """Run the first job of the lane, then submit the next one."""
        call = job.call
        if job.done.set_running_or_notify_cancel() and call is not None:
            try:
                job.done.set_result(call())
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                job.done.set_exception(error)
        with self._lock:
            jobs = self._jobs[lane]
            jobs.popleft()
            if not jobs:
                del self._jobs[lane]
            elif not self._closed:
                self._pool.submit(self._run, lane, jobs[0])


T = TypeVar("T")

CANCEL_RETRY_SECONDS = 0.2
"""Seconds after which work that is to end is told again."""


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
        self._lanes = Lanes(threads, f"foveate-{name}")
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

    async def run(
        self, request: Request, call: Callable[[], T], *, stops: bool = False, lane: str = ""
    ) -> T:
        """The call's value; raises a 503 or 504 problem, `ClientDisconnect`, or its own error.

        `stops`: it is cancelled when its time is over, even if the client is gone. `lane`: it runs
        after the earlier calls in the lane.
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

    async def run_on_each_thread(self, call: Callable[[], None]) -> None:
        """Run the call once on every thread, all threads at the same time."""
        together = Barrier(self._threads)

        def run() -> None:
            with suppress(BrokenBarrierError):
                together.wait(THREAD_START_SECONDS)  # so that no thread takes two
            call()

        await asyncio.gather(
            *(asyncio.wrap_future(self._lanes.submit(run)) for _ in range(self._threads))
        )

    def _change_count(self, lane: str, places: int) -> None:
        self._taken[lane] += places
        if not self._taken[lane]:
            del self._taken[lane]
        if self.on_change is not None:
            self.on_change(self.in_use, self._threads)

    def _timeout_problem(self, done: Future[Any]) -> ProblemError:
        if done.cancel():
            return busy_problem("others were before this request for too long; come again", after=2)
        detail = f"it took longer than {self._seconds:g} seconds; send less at once"
        return ProblemError(504, "too-slow", detail)

    async def close(self) -> None:
        """Finish what runs, and cancel what waits."""
        await asyncio.to_thread(self._lanes.shutdown)


def _cancel_repeatedly(
    loop: asyncio.AbstractEventLoop, job: CancellableCall[Any], done: Future[Any]
) -> None:
    """Cancel the job, and again later: it may have been shielded."""
    if not done.done():
        job.cancel()
        loop.call_later(CANCEL_RETRY_SECONDS, _cancel_repeatedly, loop, job, done)


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
