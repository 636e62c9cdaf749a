"""A function mapped over values by tasks of Ray: in order, bounded, tried again, cancelled."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from foveate._version import __version__
from foveate.core.errors import BadRequest, FoveateError, OutsideFailure
from foveate.fleet.engine import AHEAD, BUNCH, Lost
from foveate.fleet.interrupts import held

__all__ = ["RETRIES", "Fleet", "first_line"]

A = TypeVar("A")
B = TypeVar("B")

_GLANCE = 0.2
"""Seconds of waiting between two looks for Ctrl-C."""
RETRIES = 3
"""Times that a task is tried again whose worker died."""


class Fleet:
    """A connected cluster; `on_ray` makes one."""

    bunch = BUNCH

    def __init__(self, ray: Any, workers: int) -> None:
        self.workers = workers
        self._ray = ray

    def mapped(
        self, function: Callable[[A], B], items: Iterable[A]
    ) -> Generator[tuple[A, B | Lost], None, None]:
        """In order, a bounded number under way; left early, what is under way is cancelled.

        A value is `Lost` when its worker died each time, or the function raised; a `FoveateError`
        that it raised is raised here.
        """
        task = self._ray.remote(max_retries=RETRIES, num_cpus=1)(_called)
        with held() as ctrl_c, closing(self._under_way(task, function, items)) as under_way:
            for item, reference in under_way:
                while not self._ray.wait([reference], timeout=_GLANCE)[0]:
                    ctrl_c.check()
                ctrl_c.check()
                yield item, self._result(reference)
                ctrl_c.check()

    def streamed(
        self, function: Callable[[A], Iterable[B]], items: Iterable[A]
    ) -> Generator[tuple[A, Iterator[B | Lost]], None, None]:
        """The same where one value makes many pieces: each is handed over as soon as it is made.

        `Lost` ends what comes of a value; a task that is tried again brings no piece twice, so the
        function must make the same pieces each time. Pieces that wait for the one who takes them
        are in Ray's object store, which puts on the disk what its memory has no room for.
        """
        task = self._ray.remote(max_retries=RETRIES, num_cpus=1, num_returns="streaming")(_made)
        with held() as ctrl_c, closing(self._under_way(task, function, items)) as under_way:
            for item, references in under_way:
                ctrl_c.check()
                yield item, self._pieces(references)
                ctrl_c.check()

    def _pieces(self, references: Iterable[Any]) -> Iterator[Any]:
        for reference in references:
            found = self._result(reference)
            yield found
            if isinstance(found, Lost):
                return

    def _under_way(
        self, task: Any, function: Callable[[A], Any], items: Iterable[A]
    ) -> Generator[tuple[A, Any], None, None]:
        """Each value with Ray's reference to what comes of it."""
        home = str(Path.cwd())
        waiting: deque[tuple[A, Any]] = deque()
        try:
            for item in items:
                waiting.append((item, task.remote(function, item, home, __version__)))
                if len(waiting) >= AHEAD * self.workers:
                    yield waiting[0]
                    waiting.popleft()
            while waiting:
                yield waiting[0]
                waiting.popleft()
        finally:
            with suppress(Exception):  # the cluster may be what failed
                self._call_off([reference for _, reference in waiting])

    def _call_off(self, references: list[Any]) -> None:
        """Cancel what still runs, and nothing else.

        Ray ends this very process where a task is cancelled while its result is being put down
        ("Tried to complete task that was not pending"), so what is about to end may do so first.
        """
        ends = {getattr(one, "completed", lambda one=one: one)(): one for one in references}
        _, running = self._ray.wait(list(ends), num_returns=len(ends), timeout=_GLANCE)
        for end in running:
            self._ray.cancel(ends[end], force=True)

    def _result(self, reference: Any) -> Any:
        """What the task returned, or `Lost`."""
        failures = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except failures.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, FoveateError):
                raise type(cause)(str(cause)) from None
            return Lost(reason=f"failed on a worker: {first_line(cause)}")
        except failures.RayError as error:
            return Lost(reason=f"tried {RETRIES + 1} times: {first_line(error)}")


def _called(function: Callable[[A], B], item: A, home: str, version: str) -> B:
    """Runs on a worker: the function, where the caller stands, if that place is here too."""
    with _at_work(home, version):
        return function(item)


def _made(
    function: Callable[[A], Iterable[B]], item: A, home: str, version: str
) -> Generator[B, None, None]:
    """The same, piece by piece."""
    with _at_work(home, version):
        yield from function(item)


@contextmanager
def _at_work(home: str, version: str) -> Iterator[None]:
    if version != __version__:
        raise OutsideFailure(
            f"a worker of the cluster has foveate {__version__}, and it was asked by {version}; "
            f"install the same version everywhere"
        )
    with suppress(OSError):
        os.chdir(home)
    try:
        yield
    except BadRequest as error:  # plain ones, for not all of them survive being sent
        raise BadRequest(str(error)) from None
    except FoveateError as error:
        raise OutsideFailure(str(error)) from None


def first_line(error: BaseException) -> str:
    """The kind of an error, and the first sentence that it says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0].partition(". ")[0] if lines else ""
    return f"{type(error).__name__}: {said}".rstrip(": ")
