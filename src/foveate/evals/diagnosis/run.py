"""A golden set against a store: every question followed, each loss laid at a layer's door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from foveate.core.errors import BadInput, BadOption, BudgetTooSmall
from foveate.evals.cases import Case, Progress
from foveate.evals.diagnosis.figures import LayerFigures, measure_layers
from foveate.evals.diagnosis.probe import (
    CurrentText,
    Probe,
    StoreReader,
    evidence_share,
    probe_case,
)
from foveate.evals.diagnosis.verdict import (
    AgentTurn,
    RecordedAnswers,
    Verdict,
    count_by_layer,
    decide_verdict,
)
from foveate.pipeline.assembler import Assembler, assemble


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisInputs:
    """What is known besides the golden set.

    `current`: present texts of documents. `answers`, `sessions`: by case id, recorded answers, and
    an agent's turns.
    """

    current: CurrentText | None = None
    answers: Mapping[str, RecordedAnswers] = field(default_factory=dict)
    sessions: Mapping[str, Sequence[AgentTurn]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A verdict for each question, questions lost by layer, figures by layer."""

    verdicts: tuple[Verdict, ...]
    counts: Mapping[str, int]
    figures: Mapping[str, LayerFigures]


def diagnose(
    cases: Sequence[Case],
    assembler: Assembler,
    *,
    principals: Sequence[str] = (),
    beside: DiagnosisInputs | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Follow every case with evidence through the assembler's store, search and plan."""
    known = beside or DiagnosisInputs()
    limit = assembler.options.limit
    store = assembler.store
    if store is None:
        raise BadOption("diagnose needs a store; make the assembler with store=")
    reader = StoreReader(store, assembler.embedder, tuple(principals))
    cases = [case for case in cases if case.evidence]
    probes, verdicts, baselines = [], [], []
    for number, case in enumerate(cases, 1):
        followed = probe_case(case, reader, assembler, current=known.current)
        probes.append(followed)
        baselines.append(_naive_evidence_share(followed, assembler, reader.principals))
        verdicts.append(
            decide_verdict(
                followed,
                limit=limit,
                said=known.answers.get(case.id),
                session=known.sessions.get(case.id, ()),
            )
        )
        if progress is not None:
            progress(number, len(cases), case.id)
    return Diagnosis(
        verdicts=tuple(verdicts),
        counts=count_by_layer(verdicts),
        figures=measure_layers(probes, baselines, known.sessions, limit),
    )


def _naive_evidence_share(
    followed: Probe, assembler: Assembler, principals: Sequence[str]
) -> float:
    """The evidence in the same candidates joined by score, in the same budget."""
    resolved = assembler.resolve()
    candidates = followed.rankings.fused[: resolved.options.limit]
    try:
        context = assemble(
            followed.case.question,
            candidates,
            recipe="naive",
            budget=resolved.budget,
            tokenizer=resolved.tokenizer,
            principals=principals,
        )
    except (BadInput, BudgetTooSmall):
        return 0.0
    return fmean(evidence_share(e.text, [context.text]) for e in followed.case.evidence)
