"""Partitions of requests to partitions of answers, on any engine.

One partition is written at a time, in order, aside and then renamed: it is there whole or not at
all. What an engine lost, or what cannot be read, costs its own partition and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import IO

from foveate.batch.partitions import (
    Files,
    Note,
    Partition,
    hash_of,
    is_table,
    left_over,
    lines_of,
    noted,
    requests_in,
)
from foveate.batch.slices import Row, Slice, answered, sliced
from foveate.batch.tables import Table
from foveate.core.errors import BadInput, OutsideFailure
from foveate.fleet.engine import Engine, Lost

__all__ = ["Failure", "Progress", "Report", "run"]

Progress = Callable[[int, int, str], None]
"""Called after each slice: requests done, requests in all as far as known, the partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A partition that has no answers, and why. `outside`: no fault of its own."""

    partition: str
    reason: str
    outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run did. `contexts` and `refused` count requests, `partitions` those written.

    `unchanged`: partitions that were done before; `left_over`: answers whose requests are gone.
    """

    contexts: int = 0
    refused: int = 0
    partitions: int = 0
    unchanged: int = 0
    failed: tuple[Failure, ...] = ()
    left_over: tuple[str, ...] = ()


class _GivenUp(Exception):
    """Ends a partition whose answers cannot be had."""


def run(
    found: Sequence[Partition],
    engine: Engine,
    files: Files,
    *,
    anew: bool = False,
    on_progress: Progress | None = None,
) -> Report:
    """Answer all requests. `anew`: also those of partitions that are done.

    Raises `OutsideFailure` where nothing can be written or the engine broke down as a whole;
    partitions that were finished until then stay, and the next run goes on from there.
    """
    books = _Books(tuple(found), engine, files, anew=anew, on_progress=on_progress)
    with closing(engine.mapped(answered, books.slices())) as results:
        for number, group in groupby(results, key=lambda pair: pair[0].partition):
            books.take(number, group)
    return books.report()


class _Books:
    """What became of each partition."""

    def __init__(
        self,
        found: tuple[Partition, ...],
        engine: Engine,
        files: Files,
        *,
        anew: bool,
        on_progress: Progress | None,
    ) -> None:
        self._partitions, self._files, self._anew = found, files, anew
        self._most = engine.bunch
        self._on_progress = on_progress
        self._all = sum(map(requests_in, found)) if on_progress else 0
        self._done = self._contexts = self._refused = self._written = self._unchanged = 0
        self._hashes: dict[int, str] = {}
        self._failed: dict[int, Failure] = {}

    def slices(self) -> Iterator[Slice]:
        """What there is to do, read as it is asked for."""
        for number, partition in enumerate(self._partitions):
            if self._is_done(number, partition):
                continue
            yield from sliced(
                number,
                lines_of(partition, self._files),
                columns=is_table(partition.target),
                most=self._most,
                wanted=lambda number=number: number not in self._failed,  # type: ignore[misc]
            )

    def _is_done(self, number: int, partition: Partition) -> bool:
        """Whether it was done before; remembers the hash of its requests otherwise."""
        if partition.note is None:
            return False
        try:
            self._hashes[number] = hash_of(partition.source)
        except BadInput:
            return False  # reading it says why
        note = None if self._anew else noted(partition, self._hashes[number])
        if note is None:
            return False
        self._unchanged += 1
        self._tell(note.contexts + note.refused, partition)
        return True

    def take(self, number: int, results: Iterator[tuple[Slice, list[Row] | Lost]]) -> None:
        """Write one partition, from its results in order."""
        partition = self._partitions[number]
        contexts = refused = 0
        try:
            _make_folder(partition)
            with self._files.written(partition.target) as file, _sink(partition, file) as put:
                for given, rows in results:
                    for row in self._rows(number, given, rows):
                        put(row)
                        refused += row.refused
                        contexts += not row.refused
                    self._tell(len(given.lines), partition)
        except _GivenUp:
            return
        self._note(number, partition, contexts, refused)
        self._contexts += contexts
        self._refused += refused
        self._written += 1

    def _rows(self, number: int, given: Slice, rows: list[Row] | Lost) -> list[Row]:
        """The answers; where there are none, this was the last that is wanted of the partition."""
        if isinstance(rows, Lost):
            numbers = [number for number, _ in given.lines] or [0]
            what = f"requests {numbers[0]} to {numbers[-1]}"
            self._give_up(number, f"{what}: {rows.reason}", outside=True)
        elif given.failure:
            self._give_up(number, given.failure, outside=False)
        return rows  # type: ignore[return-value]  # what is lost has left above

    def _give_up(self, number: int, reason: str, *, outside: bool) -> None:
        name = self._partitions[number].name
        self._failed[number] = Failure(partition=name, reason=reason, outside=outside)
        raise _GivenUp

    def _note(self, number: int, partition: Partition, contexts: int, refused: int) -> None:
        if partition.note is None:
            return
        note = Note(
            requests=self._hashes[number],
            answers=hash_of(partition.target),
            contexts=contexts,
            refused=refused,
        )
        with self._files.written(str(partition.note)) as file:
            file.write(note.as_json())

    def _tell(self, requests: int, partition: Partition) -> None:
        self._done += requests
        if self._on_progress is not None:
            self._on_progress(self._done, max(self._all, self._done), partition.name)

    def report(self) -> Report:
        """The books, closed."""
        return Report(
            contexts=self._contexts,
            refused=self._refused,
            partitions=self._written,
            unchanged=self._unchanged,
            failed=tuple(self._failed[number] for number in sorted(self._failed)),
            left_over=left_over(self._partitions),
        )


def _make_folder(partition: Partition) -> None:
    """A folder of partitions is made where it is not there; that of a single file is not."""
    if partition.note is None:
        return
    try:
        partition.note.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise OutsideFailure(f"{partition.note.parent}: cannot be made: {reason}") from error


@contextmanager
def _sink(partition: Partition, file: IO[bytes]) -> Iterator[Callable[[Row], None]]:
    """What takes the answers of a partition."""
    if is_table(partition.target):
        with Table.into(file) as table:
            yield table.put
    else:

        def put(row: Row) -> None:
            file.write(row.line + b"\n")

        yield put
