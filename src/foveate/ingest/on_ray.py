"""Prepares files on the workers of a Ray cluster: the same step and the same order.

Workers read the files themselves: the folder must have the same path on each machine.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from foveate.batch.engines.engine import FailedTask
from foveate.batch.engines.on_ray import open_ray
from foveate.batch.engines.process import pickle_for_worker
from foveate.ingest.document_task import (
    PartsByTask,
    PreparedPart,
    Preparer,
    PrepareTask,
    Task,
    refuse_failed,
)

if TYPE_CHECKING:
    from foveate.batch.engines.tasks import RayEngine
    from foveate.ingest.run import Engine

PIECE_BYTES = 1 << 20
"""Of parts that are handed over together, unless one alone has more."""


@dataclass(frozen=True, slots=True)
class PrepareRemotely:
    """Prepares tasks on a worker, with the preparer that was pickled."""

    preparer: bytes

    def __call__(self, task: Task) -> Iterator[list[bytes]]:
        """The file's parts, each pickled, in pieces: no process holds all of a large file's."""
        piece: list[bytes] = []
        size = 0
        for part in _load_preparer(self.preparer)(task):
            data = pickle.dumps(part, pickle.HIGHEST_PROTOCOL)
            if piece and size + len(data) > PIECE_BYTES:
                yield piece
                piece, size = [], 0
            piece.append(data)
            size += len(data)
        yield piece


@lru_cache(maxsize=1)
def _load_preparer(pickled: bytes) -> PrepareTask:
    """Load once in a worker, which keeps its sandbox too: an embedder may take a second."""
    return PrepareTask(pickle.loads(pickled))  # noqa: S301 - from the caller, through Ray


def ray_engine(workers: int | None, address: str | None) -> Engine:
    """An engine for `ingest`; the cluster is started or joined when there are files."""

    def prepared(preparer: Preparer, tasks: Sequence[Task]) -> PartsByTask:
        if tasks:
            with open_ray(workers, address) as engine:
                yield from prepare_on_ray(engine, preparer, tasks)

    return prepared


def prepare_on_ray(engine: RayEngine, preparer: Preparer, tasks: Sequence[Task]) -> PartsByTask:
    """The parts of each task, in order. Raises `BadOption` if the preparer cannot be sent."""
    function = PrepareRemotely(pickle_for_worker(preparer))
    for _, pieces in engine.stream_values(function, tasks):
        yield map(refuse_failed, _flatten(pieces))


def _flatten(pieces: Iterable[list[bytes] | FailedTask]) -> Iterator[PreparedPart | FailedTask]:
    for piece in pieces:
        if isinstance(piece, FailedTask):
            yield piece
        else:
            yield from map(pickle.loads, piece)
