"""A golden set against a store: every question followed, each loss laid at a layer's door.

Then the diagnosis as tables and as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from foveate.core.errors import BadInput, BadOption, BudgetTooSmall
from foveate.evals.cases import Case, Progress
from foveate.evals.diagnosis.layers import (
    LAYERS,
    MODEL,
    AgentTurn,
    LayerFigures,
    measure_layers,
)
from foveate.evals.diagnosis.probe import (
    MIN_EVIDENCE_SHARE,
    CurrentText,
    Probe,
    StoreReader,
    evidence_share,
    probe_case,
)
from foveate.evals.diagnosis.verdict import (
    RecordedAnswers,
    Verdict,
    count_by_layer,
    decide_verdict,
)
from foveate.evals.tables import Table
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
                followed, limit, known.answers.get(case.id), known.sessions.get(case.id, ())
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


UNDER = "under"
"""The figure that counts: pieces of evidence of which no chunk holds enough."""
MAX_SHOWN_QUESTIONS = 20
"""Lost questions that a terminal lists; JSON has all."""


def diagnosis_tables(found: Diagnosis) -> tuple[Table, ...]:
    """Losses by layer with each layer's measure, and the questions lost."""
    lost = [v for v in found.verdicts if v.layer]
    rows = [
        (layer.name, str(found.counts[layer.name]), format_figures(found.figures[layer.name]))
        for layer in LAYERS
    ]
    if found.counts[MODEL]:
        rows.append((MODEL, str(found.counts[MODEL]), ""))
    first = Table(
        title=f"{len(lost)} of {len(found.verdicts)} questions lost something, by layer",
        head=("layer", "lost", "measure"),
        rows=tuple(rows),
    )
    shown = lost[:MAX_SHOWN_QUESTIONS]
    rest = f", the first {len(shown)} of {len(lost)}" if len(lost) > len(shown) else ""
    second = Table(
        title=f"Questions lost{rest}",
        head=("set", "question", "layer", "how it shows"),
        rows=tuple((v.dataset, v.id, v.layer, v.detail) for v in shown),
    )
    return (first, second) if lost else (first,)


def list_advice(found: Diagnosis) -> tuple[tuple[str, str], ...]:
    """Each layer that lost something, and what to try."""
    pairs = [(layer.name, layer.advice) for layer in LAYERS if found.counts[layer.name]]
    if found.counts[MODEL]:
        pairs.append((MODEL, "another model or prompt; the context had the evidence"))
    return tuple(pairs)


def format_figures(figures: LayerFigures) -> str:
    """Figures on one line; `-` if there are none.

    >>> format_figures({"recall": 0.5, "tokens": 1200.0, "stale": None})
    'recall 0.500, tokens 1,200'
    >>> format_figures({"context_recall": 0.9, "under": 3.0})
    'context recall 0.900, 3 under 0.8'
    """
    known = [_format_figure(name, value) for name, value in figures.items() if value is not None]
    return ", ".join(known) or "-"


def diagnosis_to_json(found: Diagnosis) -> dict[str, Any]:
    """All of it; the same shape everywhere."""
    return {
        "questions": len(found.verdicts),
        "lost": sum(bool(v.layer) for v in found.verdicts),
        "layers": [
            {
                "layer": layer.name,
                "lost": found.counts[layer.name],
                "measure": layer.measure,
                "figures": dict(found.figures[layer.name]),
                "advice": layer.advice,
            }
            for layer in LAYERS
        ],
        "model": found.counts[MODEL],
        "verdicts": [asdict(v) for v in found.verdicts],
    }


def _format_figure(name: str, value: float) -> str:
    if name == UNDER:
        return f"{value:,.0f} under {MIN_EVIDENCE_SHARE}"
    label = name.replace("_", " ").replace("ndcg", "nDCG@10")
    return f"{label} " + (f"{value:,.0f}" if value >= 10 else f"{value:.3f}")
