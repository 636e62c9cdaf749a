"""Files prepared by the workers of a Ray cluster, for bulk: the same step, the same order.

A bunch of files is a task of Ray's, which places it and tries it again where its worker died. What
a dead worker's bunch holds is then tried file by file, so that one file costs itself alone. Workers
read the files themselves: on a cluster of several machines the folder must be at the same place on
each of them.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from foveate.core.errors import BadOption
from foveate.fleet.engine import Lost
from foveate.fleet.on_ray import on_ray
from foveate.ingest.apart import Apart
from foveate.ingest.one import Part, Preparer, Refused, Task

if TYPE_CHECKING:
    from foveate.fleet.engine import Engine as Fleet
    from foveate.ingest.run import Engine

__all__ = ["prepared_on", "prepared_on_ray"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bunch:
    """What a worker gets: the preparer, pickled, and some files."""

    preparer: bytes
    tasks: tuple[Task, ...]


def prepared_bunch(bunch: Bunch) -> list[list[Part]]:
    """The parts of each file; what is mapped over bunches."""
    preparer = _preparer(bunch.preparer)
    with Apart(preparer.limits) as apart:
        return [list(preparer.parts(task, apart)) for task in bunch.tasks]


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
    starts = range(0, len(tasks), fleet.bunch)
    bunches = (Bunch(preparer=pickled, tasks=tuple(tasks[i : i + fleet.bunch])) for i in starts)
    for bunch, found in fleet.mapped(prepared_bunch, bunches):
        if isinstance(found, Lost):
            yield from _one_by_one(fleet, bunch)
        else:
            yield from map(iter, found)


def _one_by_one(fleet: Fleet, bunch: Bunch) -> Iterator[Iterator[Part]]:
    """A bunch whose worker died: each file alone, so that it shows which one it is."""
    singles: Iterable[Bunch] = (
        Bunch(preparer=bunch.preparer, tasks=(task,)) for task in bunch.tasks
    )
    for _, found in fleet.mapped(prepared_bunch, singles):
        if isinstance(found, Lost):
            yield iter([Refused(reason=f"could not be prepared: {found.reason}")])
        else:
            yield iter(found[0])


def _pickled(preparer: Preparer) -> bytes:
    try:
        return pickle.dumps(preparer, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001 - whatever the tokenizer's own pickling raises
        raise BadOption(
            f"the tokenizer or the embedder cannot be sent to a worker ({error}); "
            f"use the local engine"
        ) from None
