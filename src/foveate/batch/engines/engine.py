"""What every engine does, and the engine of this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

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


class Engine(ABC):
    """Maps a function over values.

    `workers`: how many values are worked on at the same time. `batch_size`: how many small things
    make one value worth handing over.
    """

    workers: int
    batch_size: int = BATCH_SIZE

    @abstractmethod
    def stream_values(
        self, function: Callable[[A], Iterable[B]], items: Iterable[A]
    ) -> Generator[tuple[A, Iterator[B | FailedTask]], None, None]:
        """Each value with the function's results, in the order of the values.

        A result arrives as soon as it is made; those of a value are read to their end before the
        next ones. `FailedTask` ends those of a value that no worker could finish. A repeated task
        brings no result twice, so the function must be deterministic; it can be pickled. Values are
        read only as workers are free, so memory does not grow with their number.
        """

    def map_values(
        self, function: Callable[[A], B], items: Iterable[A]
    ) -> Generator[tuple[A, B | FailedTask], None, None]:
        """Each value with the one result of the function."""
        with closing(self.stream_values(partial(_call_once, function), items)) as streamed:
            for item, results in streamed:
                (result,) = results
                yield item, result


def _call_once(function: Callable[[A], B], item: A) -> Iterator[B]:
    yield function(item)


class SequentialEngine(Engine):
    """One after the other, in this process."""

    workers = batch_size = 1

    def stream_values(
        self, function: Callable[[A], Iterable[B]], items: Iterable[A]
    ) -> Generator[tuple[A, Iterator[B | FailedTask]], None, None]:
        """The results of each value before the next one is taken."""
        for item in items:
            yield item, iter(function(item))
