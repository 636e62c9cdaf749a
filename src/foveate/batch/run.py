"""Answers partitions of requests on any engine.

Partitions are written atomically, one at a time and in order. A lost or unreadable request costs
its own partition alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby

from foveate.batch.engines.engine import Engine, FailedTask
from foveate.batch.partitions import (
    CompletionNote,
    FileAccess,
    Partition,
    count_requests,
    find_orphaned_partitions,
    hash_file,
    load_valid_note,
    read_requests,
)
from foveate.batch.requests import Row, Slice, answer_slice, split_slices
from foveate.core.errors import BadInput, BudgetTooSmall, ExternalError

Progress = Callable[[int, int, str], None]
"""Called after each slice: requests done, requests in all as far as known, the partition."""

COUNTS = ("contexts", "refused", "too_small")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A partition that has no answers, and why. `outside`: no fault of its own."""

    partition: str
    reason: str
    outside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a run. `contexts` and `refused` count requests, `partitions` those written.

    `too_small`: of the refused requests, those with too small a budget. `unchanged`: partitions
    that were done before, `earlier`: the first three counts of those; `left_over`: answers without
    requests.
    """

    contexts: int = 0
    refused: int = 0
    too_small: int = 0
    partitions: int = 0
    unchanged: int = 0
    earlier: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    failed: tuple[Failure, ...] = ()
    left_over: tuple[str, ...] = ()

    def in_all(self, count: str) -> int:
        """One of the first three counts, with the unchanged partitions."""
        return int(getattr(self, count)) + self.earlier[count]


class _PartitionFailed(Exception):
    """Ends a partition whose answers cannot be had."""


def run_partitions(
    found: Sequence[Partition],
    engine: Engine,
    files: FileAccess,
    *,
    redo: bool = False,
    on_progress: Progress | None = None,
) -> Report:
    """Answer all requests, those of finished partitions only if asked (`redo=True`).

    Raises `ExternalError` if nothing can be written or the engine fails as a whole; finished
    partitions stay, and the next run continues.
    """
    state = _BatchRun(tuple(found), engine, files, redo=redo, on_progress=on_progress)
    with closing(engine.map_values(answer_slice, state.slices())) as results:
        for number, group in groupby(results, key=lambda pair: pair[0].partition):
            state.write_partition(number, group)
    return state.report()


class _BatchRun:
    def __init__(
        self,
        found: tuple[Partition, ...],
        engine: Engine,
        files: FileAccess,
        *,
        redo: bool,
        on_progress: Progress | None,
    ) -> None:
        self._partitions, self._files, self._rerun = found, files, redo
        self._slice_size = engine.batch_size
        self._on_progress = on_progress
        self._total = sum(map(count_requests, found)) if on_progress else 0
        self._done = self._written = self._unchanged = 0
        self._counts, self._earlier = dict.fromkeys(COUNTS, 0), dict.fromkeys(COUNTS, 0)
        self._hashes: dict[int, str] = {}
        self._failed: dict[int, Failure] = {}

    def slices(self) -> Iterator[Slice]:
        """What there is to do, read as it is asked for."""
        for number, partition in enumerate(self._partitions):
            if self._is_done(number, partition):
                continue
            yield from split_slices(
                number,
                read_requests(partition, self._files),
                most=self._slice_size,
                wanted=lambda number=number: number not in self._failed,  # type: ignore[misc]
            )

    def _is_done(self, number: int, partition: Partition) -> bool:
        """Whether it was done before; otherwise, store the hash of its requests."""
        if partition.note_path is None:
            return False
        try:
            self._hashes[number] = hash_file(partition.source)
        except BadInput:
            return False  # reading it says why
        note = None if self._rerun else load_valid_note(partition, self._hashes[number])
        if note is None:
            return False
        self._unchanged += 1
        for count in COUNTS:
            self._earlier[count] += getattr(note, count)
        self._report_progress(note.contexts + note.refused, partition)
        return True

    def write_partition(
        self, number: int, results: Iterator[tuple[Slice, list[Row] | FailedTask]]
    ) -> None:
        """Write one partition, from its results in order."""
        partition = self._partitions[number]
        found = dict.fromkeys(COUNTS, 0)
        try:
            _make_folder(partition)
            with self._files.open_atomic(partition.target) as file:
                for given, rows in results:
                    for row in self._check_rows(number, given, rows):
                        file.write(row.line + b"\n")
                        found["refused"] += bool(row.error)
                        found["contexts"] += not row.error
                        found["too_small"] += row.error == BudgetTooSmall.__name__
                    self._report_progress(len(given.lines), partition)
        except _PartitionFailed:
            return
        self._write_note(number, partition, found)
        for count in COUNTS:
            self._counts[count] += found[count]
        self._written += 1

    def _check_rows(self, number: int, given: Slice, rows: list[Row] | FailedTask) -> list[Row]:
        """The answers; ends the partition if there are none."""
        if isinstance(rows, FailedTask):
            numbers = [number for number, _ in given.lines] or [0]
            what = f"requests {numbers[0]} to {numbers[-1]}"
            self._fail_partition(number, f"{what}: {rows.reason}", outside=True)
        elif given.failure:
            self._fail_partition(number, given.failure, outside=False)
        return rows  # type: ignore[return-value]  # what is lost has left above

    def _fail_partition(self, number: int, reason: str, *, outside: bool) -> None:
        name = self._partitions[number].name
        self._failed[number] = Failure(partition=name, reason=reason, outside=outside)
        raise _PartitionFailed

    def _write_note(self, number: int, partition: Partition, counts: Mapping[str, int]) -> None:
        if partition.note_path is None:
            return
        note = CompletionNote(
            requests=self._hashes[number],
            answers=hash_file(partition.target),
            contexts=counts["contexts"],
            refused=counts["refused"],
            too_small=counts["too_small"],
        )
        with self._files.open_atomic(str(partition.note_path)) as file:
            file.write(note.to_json())

    def _report_progress(self, requests: int, partition: Partition) -> None:
        self._done += requests
        if self._on_progress is not None:
            self._on_progress(self._done, max(self._total, self._done), partition.name)

    def report(self) -> Report:
        """The result of the run."""
        return Report(
            **self._counts,
            partitions=self._written,
            unchanged=self._unchanged,
            earlier=self._earlier,
            failed=tuple(self._failed[number] for number in sorted(self._failed)),
            left_over=find_orphaned_partitions(self._partitions),
        )


def _make_folder(partition: Partition) -> None:
    """Create the folder of partitions; that of a single file must exist."""
    if partition.note_path is None:
        return
    try:
        partition.note_path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise ExternalError(f"{partition.note_path.parent}: cannot be made: {reason}") from error
