"""Cases x trials → rows, by the same code that users call; goes on where an earlier run stopped.

Rows come in a fixed order, case by case and trial by trial, whatever `jobs` is. A case to which
nothing fits counts as an empty context, and says so; any other error is a fault and stops the
run, with the rows that were made before it kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from itertools import chain
from pathlib import Path

from foveate.batch.engines.engine import FailedTask
from foveate.batch.engines.pool import ProcessPoolEngine
from foveate.core.errors import BadOption, ExternalError
from foveate.evals.cases import Case, Progress
from foveate.evals.rows import Row, encode_row, load_rows, open_for_append, replace_rows
from foveate.evals.trials import Setting, build_trials
from foveate.evals.worker import Task, Worker, row_key


def run(
    cases: Sequence[Case],
    setting: Setting,
    *,
    results: Path | None = None,
    jobs: int = 1,
    on_progress: Progress | None = None,
) -> tuple[Row, ...]:
    """The rows of all cases and trials; those that `results` has already are taken from there.

    `jobs`: processes. Raises what assembling raises, `BudgetTooSmall` apart.
    """
    if jobs < 1:
        raise BadOption(f"jobs is {jobs}; it must be 1 or more")
    tried = build_trials(setting)
    known = load_rows(results) if results is not None else {}
    keys = [[row_key(case, trial) for trial in tried] for case in cases]
    found = {key: known[key] for key in chain.from_iterable(keys) if key in known}
    tasks = [
        (case, missing)
        for case, row in zip(cases, keys, strict=True)
        if (missing := tuple(i for i, key in enumerate(row) if key not in found))
    ]
    total = len(cases) * len(tried)
    with open_for_append(results) if results is not None and tasks else nullcontext() as file:
        for rows in _run_tasks(tasks, setting, jobs):
            if file is not None:  # at once, so that a run that is stopped loses one case alone
                file.writelines(encode_row(row) for row in rows)
                file.flush()
            found |= {row.key: row for row in rows}
            if on_progress is not None:
                on_progress(len(found), total, rows[0].dataset)
    ordered = tuple(found[key] for key in chain.from_iterable(keys))
    if results is not None:
        replace_rows(results, ordered)
    return ordered


def _run_tasks(tasks: Sequence[Task], setting: Setting, jobs: int) -> Iterator[list[Row]]:
    """The rows of each task, in order."""
    worker = Worker(setting)
    if jobs == 1 or len(tasks) < 2:
        yield from map(worker, tasks)
        return
    pool = ProcessPoolEngine(min(jobs, len(tasks)))
    with closing(pool.map_values(worker, tasks)) as done:
        for (case, _), rows in done:
            if isinstance(rows, FailedTask):
                raise ExternalError(f"case {case.id} of {case.dataset}: {rows.reason}")
            yield rows
