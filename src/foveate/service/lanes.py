"""Threads, and a lane for each tenant in front of them: of one lane, one job at a time is at work.

Rules: jobs of a lane are done in their order; a lane whose job is done goes behind the others that
wait for a thread, so that however much one tenant asks for, others come after one job of it; what
is called off while it waits is let go at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

__all__ = ["Lanes"]


@dataclass(slots=True)
class _Job:
    call: Callable[[], Any] | None
    done: Future[Any]

    def forget(self, _: object) -> None:
        """What it holds is not needed any more: it is done, or called off."""
        self.call = None


class Lanes:
    """Jobs that are not in a lane are done in the order in which they came, as threads get free."""

    def __init__(self, threads: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = Lock()
        self._jobs: dict[str, deque[_Job]] = {}
        self._closed = False

    def submit(self, call: Callable[[], Any], lane: str = "") -> Future[Any]:
        """What the call will give; it may be cancelled before it begins."""
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
        """Finish what runs; what waits is called off."""
        with self._lock:
            self._closed = True
            for jobs in self._jobs.values():
                for job in jobs:
                    job.done.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, lane: str, job: _Job) -> None:
        """Do the first job of the lane, and have the next one wait for a thread."""
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
