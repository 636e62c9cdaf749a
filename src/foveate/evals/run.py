"""Cases x trials → rows, by the same code that users call.

Rows come in a fixed order, case by case and trial by trial, whatever `jobs` is. A case to which
nothing fits counts as an empty context, and says so; any other error is a fault and stops the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from foveate.batch.engines.engine import FailedTask
from foveate.batch.engines.pool import ProcessPoolEngine
from foveate.core.errors import BadOption, ExternalError
from foveate.evals.cases import Case, Progress
from foveate.evals.rows import Row
from foveate.evals.trials import Setting, build_trials
from foveate.evals.worker import Worker


def run(
    cases: Sequence[Case],
    setting: Setting,
    *,
    jobs: int = 1,
    on_progress: Progress | None = None,
) -> tuple[Row, ...]:
    """The rows of all cases and trials.

    `jobs`: processes. Raises what assembling raises, `BudgetTooSmall` apart.
    """
    if jobs < 1:
        raise BadOption(f"jobs is {jobs}; it must be 1 or more")
    total = len(cases) * len(build_trials(setting))
    found: list[Row] = []
    for rows in _run_cases(cases, setting, jobs):
        found += rows
        if on_progress is not None:
            on_progress(len(found), total, rows[0].dataset)
    return tuple(found)


def _run_cases(cases: Sequence[Case], setting: Setting, jobs: int) -> Iterator[list[Row]]:
    """The rows of each case, in order."""
    worker = Worker(setting)
    if jobs == 1 or len(cases) < 2:
        yield from map(worker, cases)
        return
    pool = ProcessPoolEngine(min(jobs, len(cases)))
    with closing(pool.map_values(worker, cases)) as done:
        for case, rows in done:
            if isinstance(rows, FailedTask):
                raise ExternalError(f"case {case.id} of {case.dataset}: {rows.reason}")
            yield rows
