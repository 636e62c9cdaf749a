"""The engine protocol, and the engine of this process."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

A = TypeVar("A")
B = TypeVar("B")

BATCH_SIZE = 16
"""Of what takes some ten milliseconds each: handing it to another process costs one or two."""

TASKS_PER_WORKER = 2
"""Values under way for each worker: one at work, and one that waits for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTask:
    """The result of a value that no worker could finish."""

    reason: str


class Engine(Protocol):
    """Maps a function over values."""

    @property
    def workers(self) -> int:
        """How many values are worked on at the same time."""

    @property
    def batch_size(self) -> int:
        """How many small things make one value worth handing over."""

    def map_values(
        self, function: Callable[[A], B], items: Iterable[A]
    ) -> Generator[tuple[A, B | FailedTask], None, None]:
        """Each value with the function's result, in the order of the values.

        The function can be pickled, and what it keeps changes no result. Values are read only as
        workers are free, so memory does not grow with their number.
        """


class SequentialEngine:
    """One after the other, in this process."""

    workers = 1
    batch_size = 1

    def map_values(
        self, function: Callable[[A], B], items: Iterable[A]
    ) -> Generator[tuple[A, B | FailedTask], None, None]:
        """Each result before the next value is taken."""
        for item in items:
            yield item, function(item)
