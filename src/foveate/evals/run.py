"""Cases x trials → rows, by the same code that users call.

Rows come in a fixed order, case by case and trial by trial, whatever `jobs` is. A case to which
nothing fits counts as an empty context, and says so; any other error is a fault and stops the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

from foveate import plugins
from foveate.batch.engines.engine import FailedTask
from foveate.batch.engines.pool import ProcessPoolEngine
from foveate.core.contracts import Tokenizer
from foveate.core.errors import BadOption, BudgetTooSmall, ExternalError
from foveate.core.types import Candidate, Context
from foveate.evals.cases import Case, Progress
from foveate.evals.measures import measure
from foveate.evals.rows import Row
from foveate.evals.scores import split_label
from foveate.evals.trials import WHOLE_POOL, Setting, Trial, build_trials
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Embedder


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
    total = len(cases) * (len(build_trials(setting)) + 1)  # the whole pool is measured, too
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


class Worker:
    """Makes the rows of a case; keeps the trials, and the vectors of texts it has seen.

    Until the first case it holds the setting alone, which another process can be sent.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._vectors: dict[str, Any] = {}

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """What is tried with each case."""
        return build_trials(self.setting)

    @cached_property
    def counter(self) -> Tokenizer:
        """Counts for all trials."""
        return plugins.tokenizer(self.setting.tokenizer)

    @cached_property
    def _embedder(self) -> Embedder | None:
        return plugins.embedder(self.setting.embedder) if self.setting.embedder else None

    def __call__(self, case: Case) -> list[Row]:
        """The rows of the case: the whole pool, then the trials in their order."""
        best = sorted(case.candidates(), key=lambda c: -c.score)
        rows = [self._build_row(case, WHOLE_POOL, 0, "\n\n".join(c.text for c in best))]
        for trial, context, failed in self.contexts(case):
            text = context.text if context is not None else ""
            rows.append(self._build_row(case, trial.label, trial.budget, text, failed))
        return rows

    def contexts(self, case: Case) -> Iterator[tuple[Trial, Context | None, str]]:
        """The context of every trial, or why there is none."""
        candidates, vector = case.candidates(), None
        if self._embedder is not None:
            candidates = embed_candidates(self._embedder, candidates, self._vectors)
            vector = self._embedder.embed([case.question])[0]
        for trial in self.trials:
            yield trial, *self._assemble(case, trial.options, candidates, vector)

    def _build_row(self, case: Case, recipe: str, budget: int, text: str, failed: str = "") -> Row:
        found = measure(
            text,
            [unit.text for unit in case.evidence],
            case.answers,
            tokens=self.counter.count(text),
            budget=budget or None,
            dataset=split_label(case.dataset)[0],
        )
        return Row(
            dataset=case.dataset,
            id=case.id,
            recipe=recipe,
            budget=budget,
            failed=failed,
            measures=asdict(found),
        )

    def _assemble(
        self, case: Case, options: AssembleOptions, candidates: tuple[Candidate, ...], vector: Any
    ) -> tuple[Context | None, str]:
        try:
            context = Assembler(options=options).assemble(
                case.question, candidates, query_embedding=vector
            )
        except BudgetTooSmall as error:
            return None, str(error)
        return context, ""


def embed_candidates(
    embedder: Embedder, candidates: Sequence[Candidate], known: dict[str, Any]
) -> tuple[Candidate, ...]:
    """The candidates with vectors; what is not `known` by its content hash is embedded once."""
    new = {c.chunk.content_hash: c.text for c in candidates if c.chunk.content_hash not in known}
    if new:
        known.update(zip(new, embedder.embed(list(new.values())), strict=True))
    return tuple(
        replace(c, chunk=replace(c.chunk, embedding=known[c.chunk.content_hash]))
        for c in candidates
    )
