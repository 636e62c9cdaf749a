"""Prepares files on the workers of a Ray cluster: the same step and the same order.

A task is a batch of files; if its worker dies repeatedly, the rest of the batch is tried file by
file. Parts arrive in pieces of a megabyte while their file is still being read, so no process holds
a whole file of many documents. Workers read the files themselves: the folder must have the same
path on each machine.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from foveate.batch.engines.engine import FailedTask
from foveate.batch.engines.on_ray import open_ray
from foveate.batch.engines.process import pickle_for_worker
from foveate.ingest.document_task import PartsByTask, PreparedPart, Preparer, Refusal, Task
from foveate.ingest.sandbox import Sandbox

if TYPE_CHECKING:
    from foveate.batch.engines.tasks import RayEngine
    from foveate.ingest.run import Engine


BATCH_BYTES = 4 << 20
"""Of the files of a batch, as they are on the disk."""

PIECE_BYTES = 1 << 20
"""Of parts that are handed over together, unless one alone has more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBatch:
    """The input of a worker: the pickled preparer, and some files."""

    preparer: bytes
    tasks: tuple[Task, ...]


Piece: TypeAlias = list[tuple[int, bytes]]
"""Parts, pickled, each after the number of its file in the batch."""


def prepare_batch(batch: TaskBatch) -> Iterator[Piece]:
    """The parts of the files, in order; what is mapped over batches."""
    preparer = _load_preparer(batch.preparer)
    piece: Piece = []
    size = 0
    with Sandbox(preparer.limits) as sandbox:
        for number, task in enumerate(batch.tasks):
            for part in preparer.parts(task, sandbox):
                data = pickle.dumps(part, pickle.HIGHEST_PROTOCOL)
                if piece and size + len(data) > PIECE_BYTES:
                    yield piece
                    piece, size = [], 0
                piece.append((number, data))
                size += len(data)
    yield piece


@lru_cache(maxsize=1)
def _load_preparer(pickled: bytes) -> Preparer:
    """Load once in a worker: an embedder may take a second."""
    found: Preparer = pickle.loads(pickled)  # noqa: S301 - from the caller, through Ray
    return found


def ray_engine(workers: int | None, address: str | None) -> Engine:
    """An engine for `ingest`; the cluster is started or joined when there are files."""

    def prepared(preparer: Preparer, tasks: Sequence[Task]) -> PartsByTask:
        if tasks:
            with open_ray(workers, address) as engine:
                yield from prepare_on_ray(engine, preparer, tasks)

    return prepared


def prepare_on_ray(engine: RayEngine, preparer: Preparer, tasks: Sequence[Task]) -> PartsByTask:
    """The parts of each task, in order. Raises `BadOption` if the preparer cannot be sent."""
    pickled = pickle_for_worker(preparer)
    batches = (
        TaskBatch(preparer=pickled, tasks=some)
        for some in batch_tasks(tasks, most=engine.batch_size, most_bytes=BATCH_BYTES)
    )
    for batch, pieces in engine.stream_values(prepare_batch, batches):
        coming = _PartStream(engine, batch, _flatten(pieces))
        for number in range(len(batch.tasks)):
            yield coming.parts_for(number)


def batch_tasks(tasks: Iterable[Task], *, most: int, most_bytes: int) -> Iterator[tuple[Task, ...]]:
    """In order; a file that alone has more bytes than that is a batch of its own."""
    kept: list[Task] = []
    size = 0
    for task in tasks:
        own = _file_size(task)
        if kept and (len(kept) >= most or size + own > most_bytes):
            yield tuple(kept)
            kept, size = [], 0
        kept.append(task)
        size += own
    if kept:
        yield tuple(kept)


def _file_size(task: Task) -> int:
    try:
        return task.file.path.stat().st_size
    except OSError:
        return 0  # whoever reads it says why it cannot be read


NumberedPart: TypeAlias = tuple[int, bytes]


class _PartStream:
    """The parts of a batch's files as they arrive; missing ones are asked for again."""

    def __init__(
        self, engine: RayEngine, batch: TaskBatch, given: Iterator[NumberedPart | FailedTask]
    ) -> None:
        self._engine, self._batch, self._given = engine, batch, given
        self._head = next(given, None)

    def parts_for(self, number: int) -> Iterator[PreparedPart]:
        """Those of one file, which is that number in the batch; asked for in order."""
        brought = 0
        while isinstance(self._head, tuple) and self._head[0] == number:
            yield _unpickle_part(self._head[1])
            brought += 1
            self._head = next(self._given, None)
        if isinstance(self._head, FailedTask):
            yield from self._retry_alone(number, brought)

    def _retry_alone(self, number: int, brought: int) -> Iterator[PreparedPart]:
        """Prepare the file by itself, to find out whether it is the one that kills its worker."""
        single = TaskBatch(preparer=self._batch.preparer, tasks=(self._batch.tasks[number],))
        with closing(self._engine.stream_values(prepare_batch, [single])) as streamed:
            for _, pieces in streamed:
                for i, given in enumerate(_flatten(pieces)):
                    if isinstance(given, FailedTask):
                        yield Refusal(reason=f"could not be prepared: {given.reason}")
                    elif i >= brought:
                        yield _unpickle_part(given[1])


def _flatten(pieces: Iterable[Piece | FailedTask]) -> Iterator[NumberedPart | FailedTask]:
    for piece in pieces:
        if isinstance(piece, FailedTask):
            yield piece
        else:
            yield from piece


def _unpickle_part(data: bytes) -> PreparedPart:
    part: PreparedPart = pickle.loads(data)  # noqa: S301 - from a worker of ours
    return part
