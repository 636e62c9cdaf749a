"""Files prepared by the workers of a Ray cluster, for bulk: the same step, the same order.

A bunch of files is a task of Ray's, which places it and tries it again where its worker died. What
a dead worker's bunch holds is then tried file by file, so that one file costs itself alone. Parts
are handed over in pieces of a megabyte, while their file is still at work: neither a worker nor
this process ever has all of a file that holds a million documents. Workers read the files
themselves: on a cluster of several machines the folder must be at the same place on
each of them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from foveate.core.errors import BadOption
from foveate.fleet.engine import Lost
from foveate.fleet.on_ray import on_ray
from foveate.ingest.apart import Apart
from foveate.ingest.one import Part, Preparer, Refused, Task

if TYPE_CHECKING:
    from foveate.fleet.tasks import Fleet
    from foveate.ingest.run import Engine

__all__ = ["prepared_on", "prepared_on_ray"]

BUNCH_BYTES = 4 << 20
"""Of the files of a bunch, as they are on the disk."""

PIECE_BYTES = 1 << 20
"""Of parts that are handed over together, unless one alone has more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bunch:
    """What a worker gets: the preparer, pickled, and some files."""

    preparer: bytes
    tasks: tuple[Task, ...]


Piece: TypeAlias = list[tuple[int, bytes]]
"""Parts, pickled, each after the number of its file in the bunch."""


def prepared_bunch(bunch: Bunch) -> Iterator[Piece]:
    """The parts of the files, in order; what is mapped over bunches."""
    preparer = _preparer(bunch.preparer)
    piece: Piece = []
    size = 0
    with Apart(preparer.limits) as apart:
        for number, task in enumerate(bunch.tasks):
            for part in preparer.parts(task, apart):
                data = pickle.dumps(part, pickle.HIGHEST_PROTOCOL)
                if piece and size + len(data) > PIECE_BYTES:
                    yield piece
                    piece, size = [], 0
                piece.append((number, data))
                size += len(data)
    yield piece


@lru_cache(maxsize=1)
def _preparer(pickled: bytes) -> Preparer:
    """Made once in a worker, for its embedder may take a second."""
    found: Preparer = pickle.loads(pickled)  # noqa: S301 - from the caller, through Ray
    return found


def prepared_on_ray(workers: int | None, address: str | None) -> Engine:
    """An engine for `ingest`; the cluster is started or joined when there are files."""

    @contextmanager
    def prepared(preparer: Preparer, tasks: Sequence[Task]) -> Iterator[Iterator[Iterator[Part]]]:
        if not tasks:
            yield iter(())
            return
        with on_ray(workers, address) as fleet:
            yield prepared_on(fleet, preparer, tasks)

    return prepared


def prepared_on(
    fleet: Fleet, preparer: Preparer, tasks: Sequence[Task]
) -> Iterator[Iterator[Part]]:
    """The parts of each task, in order. Raises `BadOption` where the preparer cannot be sent."""
    pickled = _pickled(preparer)
    bunches = (
        Bunch(preparer=pickled, tasks=some)
        for some in bunched(tasks, most=fleet.bunch, most_bytes=BUNCH_BYTES)
    )
    for bunch, pieces in fleet.streamed(prepared_bunch, bunches):
        coming = _Coming(fleet, bunch, _flat(pieces))
        for number in range(len(bunch.tasks)):
            yield coming.of(number)


def bunched(tasks: Iterable[Task], *, most: int, most_bytes: int) -> Iterator[tuple[Task, ...]]:
    """In order; a file that alone has more bytes than that is a bunch of its own."""
    kept: list[Task] = []
    size = 0
    for task in tasks:
        own = _size(task)
        if kept and (len(kept) >= most or size + own > most_bytes):
            yield tuple(kept)
            kept, size = [], 0
        kept.append(task)
        size += own
    if kept:
        yield tuple(kept)


def _size(task: Task) -> int:
    try:
        return task.file.path.stat().st_size
    except OSError:
        return 0  # whoever reads it says why it cannot be read


Given: TypeAlias = tuple[int, bytes]


class _Coming:
    """The parts of a bunch's files as they come; what a dead worker kept is asked for again."""

    def __init__(self, fleet: Fleet, bunch: Bunch, given: Iterator[Given | Lost]) -> None:
        self._fleet, self._bunch, self._given = fleet, bunch, given
        self._head = next(given, None)

    def of(self, number: int) -> Iterator[Part]:
        """Those of one file, which is that number in the bunch; asked for in order."""
        brought = 0
        while isinstance(self._head, tuple) and self._head[0] == number:
            yield _loaded(self._head[1])
            brought += 1
            self._head = next(self._given, None)
        if isinstance(self._head, Lost):
            yield from self._alone(number, brought)

    def _alone(self, number: int, brought: int) -> Iterator[Part]:
        """The file by itself, so that it shows whether it is the one at which a worker dies."""
        single = Bunch(preparer=self._bunch.preparer, tasks=(self._bunch.tasks[number],))
        with closing(self._fleet.streamed(prepared_bunch, [single])) as streamed:
            for _, pieces in streamed:
                for i, given in enumerate(_flat(pieces)):
                    if isinstance(given, Lost):
                        yield Refused(reason=f"could not be prepared: {given.reason}")
                    elif i >= brought:
                        yield _loaded(given[1])


def _flat(pieces: Iterable[Piece | Lost]) -> Iterator[Given | Lost]:
    for piece in pieces:
        if isinstance(piece, Lost):
            yield piece
        else:
            yield from piece


def _loaded(data: bytes) -> Part:
    part: Part = pickle.loads(data)  # noqa: S301 - from a worker of ours
    return part


def _pickled(preparer: Preparer) -> bytes:
    try:
        return pickle.dumps(preparer, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - whatever the tokenizer's own pickling raises
        raise BadOption(
            f"the tokenizer or the embedder cannot be sent to a worker ({error}); "
            f"use the local engine"
        ) from None
