"""A golden set against a store: every question followed, each loss laid at a layer's door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from foveate.assembler import Assembler, prepare_candidates
from foveate.core.errors import BadInput, BudgetTooSmall
from foveate.evals.cases import Case
from foveate.evals.diagnosis.figures import Figures, measured
from foveate.evals.diagnosis.probe import Current, Probe, probe
from foveate.evals.diagnosis.shelf import Shelf, held
from foveate.evals.diagnosis.verdict import Said, Turn, Verdict, counted, verdict
from foveate.plan import plan

Progress = Callable[[int, int, str], None]
"""Called after each case: done, in all, the case's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What is known beside the golden set.

    `current`: documents as they are now. `said`, `sessions`: per case id, what was answered, and
    the turns of an agent.
    """

    current: Current | None = None
    said: Mapping[str, Said] = field(default_factory=dict)
    sessions: Mapping[str, Sequence[Turn]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was found: a verdict for each question, questions lost by layer, figures by layer."""

    verdicts: tuple[Verdict, ...]
    counts: Mapping[str, int]
    figures: Mapping[str, Figures]


def diagnose(
    cases: Sequence[Case],
    assembler: Assembler,
    *,
    principals: Sequence[str] = (),
    beside: Beside | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Follow every case with evidence through the assembler's store, search and plan."""
    known = beside or Beside()
    shelf = Shelf(assembler.store, assembler.embedder, tuple(principals))
    cases = [case for case in cases if case.evidence]
    probes, verdicts, baselines = [], [], []
    for number, case in enumerate(cases, 1):
        followed = probe(case, shelf, assembler, current=known.current)
        probes.append(followed)
        baselines.append(_joined(followed, assembler, shelf.principals))
        verdicts.append(
            verdict(
                followed,
                limit=assembler.limit,
                said=known.said.get(case.id),
                session=known.sessions.get(case.id, ()),
            )
        )
        if progress is not None:
            progress(number, len(cases), case.id)
    return Diagnosis(
        verdicts=tuple(verdicts),
        counts=counted(verdicts),
        figures=measured(probes, baselines, known.sessions, assembler.limit),
    )


def _joined(followed: Probe, assembler: Assembler, principals: Sequence[str]) -> float:
    """The evidence that the same candidates hold, joined by score in the same budget."""
    settled = plan(recipe="naive", budget=assembler.plan.budget, tokenizer=assembler.plan.tokenizer)
    candidates = followed.ranked.fused[: assembler.limit]
    try:
        made = prepare_candidates(
            followed.case.question, candidates, settled, principals=principals
        )
    except (BadInput, BudgetTooSmall):
        return 0.0
    return fmean(held(e.text, [made.context.text]) for e in followed.case.evidence)
