"""Answers requests on any engine, in order; a request that kills its worker costs itself alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

from foveate.batch.engines.engine import Engine, FailedTask
from foveate.batch.requests import Row, Slice, answer_slice, lost_row, split_slices
from foveate.core.errors import BudgetTooSmall

Progress = Callable[[int], None]
"""Called after each slice: requests done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a run, in numbers of requests.

    `refused`: answered with an error. Of those, `too_small` had too small a budget, and `lost`
    killed every worker that tried them.
    """

    contexts: int = 0
    refused: int = 0
    too_small: int = 0
    lost: int = 0


def answer_requests(
    lines: Iterable[bytes],
    engine: Engine,
    write: Callable[[bytes], object],
    *,
    on_progress: Progress | None = None,
) -> Report:
    """Answer a JSON line each, in order; blank ones are passed over.

    Raises what reading and writing raise, and `ExternalError` if the engine fails as a whole.
    """
    contexts = refused = too_small = lost = 0
    for row in _rows(lines, engine):
        write(row.line + b"\n")
        contexts += not row.error
        refused += bool(row.error)
        too_small += row.error == BudgetTooSmall.__name__
        lost += row.is_lost
        if on_progress is not None:
            on_progress(contexts + refused)
    return Report(contexts=contexts, refused=refused, too_small=too_small, lost=lost)


def _rows(lines: Iterable[bytes], engine: Engine) -> Iterator[Row]:
    slices = split_slices(lines, most=engine.batch_size)
    with closing(engine.map_values(answer_slice, slices)) as results:
        for given, rows in results:
            yield from _one_by_one(given, rows, engine) if isinstance(rows, FailedTask) else rows


def _one_by_one(given: Slice, failed: FailedTask, engine: Engine) -> Iterator[Row]:
    """The answers to a slice that no worker could finish, to find the request that kills."""
    if len(given) == 1:
        yield lost_row(given[0], failed.reason)
        return
    singles: list[Slice] = [(line,) for line in given]
    with closing(engine.map_values(answer_slice, singles)) as results:
        for (line,), rows in results:
            yield from [lost_row(line, rows.reason)] if isinstance(rows, FailedTask) else rows
