"""A function mapped over values by tasks of Ray: in order, bounded, tried again, cancelled."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from foveate._version import __version__
from foveate.batch.engines.engine import TASKS_PER_WORKER, Engine, FailedTask
from foveate.core.errors import ExternalError, FoveateError, InvalidRequest

A = TypeVar("A")
B = TypeVar("B")

_CANCEL_SECONDS = 0.2
"""Seconds that tasks which are no longer wanted have to end by themselves."""
RETRIES = 3
"""Times that a task is tried again whose worker died."""


class RayEngine(Engine):
    """A connected cluster; `on_ray` makes one."""

    def __init__(self, ray: Any, workers: int) -> None:
        self.workers = workers
        self._ray = ray

    def stream_values(
        self, function: Callable[[A], Iterable[B]], items: Iterable[A]
    ) -> Generator[tuple[A, Iterator[B | FailedTask]], None, None]:
        """In order, a bounded number under way; left early, what is under way is cancelled.

        `FailedTask` for a value whose worker died each time, or for which the function raised; a
        `FoveateError` that it raised is raised here. Waiting results are in Ray's object store,
        which spills to disk.
        """
        task = self._ray.remote(max_retries=RETRIES, num_cpus=1, num_returns="streaming")(
            _stream_task
        )
        with closing(self._running_tasks(task, function, items)) as under_way:
            for item, references in under_way:
                yield item, self._iter_results(references)

    def _iter_results(self, references: Iterable[Any]) -> Iterator[Any]:
        for reference in references:
            found = self._get_result(reference)
            yield found
            if isinstance(found, FailedTask):
                return

    def _running_tasks(
        self, task: Any, function: Callable[[A], Any], items: Iterable[A]
    ) -> Generator[tuple[A, Any], None, None]:
        """Each value with Ray's reference to what comes of it."""
        home = str(Path.cwd())
        waiting: deque[tuple[A, Any]] = deque()
        try:
            for item in items:
                waiting.append((item, task.remote(function, item, home, __version__)))
                if len(waiting) >= TASKS_PER_WORKER * self.workers:
                    yield waiting[0]
                    waiting.popleft()
            while waiting:
                yield waiting[0]
                waiting.popleft()
        finally:
            with suppress(Exception):  # the cluster may be what failed
                self._cancel_running([reference for _, reference in waiting])

    def _cancel_running(self, references: list[Any]) -> None:
        """Cancel what still runs.

        Ray ends this process if a task is cancelled while its result is stored ("Tried to complete
        task that was not pending"), so tasks that are about to end may do so first.
        """
        ends = {getattr(one, "completed", lambda one=one: one)(): one for one in references}
        _, running = self._ray.wait(list(ends), num_returns=len(ends), timeout=_CANCEL_SECONDS)
        for end in running:
            self._ray.cancel(ends[end], force=True)

    def _get_result(self, reference: Any) -> Any:
        failures = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except failures.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, FoveateError):
                raise type(cause)(str(cause)) from None
            return FailedTask(reason=f"failed on a worker: {error_summary(cause)}")
        except failures.RayError as error:
            return FailedTask(reason=f"tried {RETRIES + 1} times: {error_summary(error)}")


def _stream_task(
    function: Callable[[A], Iterable[B]], item: A, home: str, version: str
) -> Generator[B, None, None]:
    """On a worker: call the function in the caller's folder, if it exists."""
    with _worker_context(home, version):
        yield from function(item)


@contextmanager
def _worker_context(home: str, version: str) -> Iterator[None]:
    if version != __version__:
        raise ExternalError(
            f"a worker of the cluster has foveate {__version__}, and it was asked by {version}; "
            f"install the same version everywhere"
        )
    with suppress(OSError):
        os.chdir(home)
    try:
        yield
    except InvalidRequest as error:  # plain ones, for not all of them survive being sent
        raise InvalidRequest(str(error)) from None
    except FoveateError as error:
        raise ExternalError(str(error)) from None


def error_summary(error: BaseException) -> str:
    """The kind of an error, and the first sentence that it says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0].partition(". ")[0] if lines else ""
    return f"{type(error).__name__}: {said}".rstrip(": ")
