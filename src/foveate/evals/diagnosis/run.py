"""A golden set against a store: every question followed, each loss laid at a layer's door.

Then the diagnosis as a table, as lists and as JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from foveate.core.errors import BadInput, BadOption, BudgetTooSmall
from foveate.evals.cases import Case, Progress
from foveate.evals.diagnosis.layers import LAYERS, MODEL, LayerFigures, measure_layers
from foveate.evals.diagnosis.probe import (
    MIN_EVIDENCE_SHARE,
    CurrentText,
    Probe,
    StoreReader,
    evidence_share,
    probe_case,
)
from foveate.evals.diagnosis.records import AgentSession, RecordedAnswers
from foveate.evals.diagnosis.verdict import Verdict, decide_verdict
from foveate.evals.tables import Table
from foveate.pipeline.assembler import Assembler, assemble


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A verdict for each question, and figures by layer."""

    verdicts: tuple[Verdict, ...]
    figures: Mapping[str, LayerFigures]

    @property
    def lost(self) -> list[Verdict]:
        """Those of the questions that a layer, or the model, lost."""
        return [verdict for verdict in self.verdicts if verdict.layer]

    @property
    def counts(self) -> Counter[str]:
        """Questions lost, by layer."""
        return Counter(verdict.layer for verdict in self.lost)


def diagnose(
    cases: Sequence[Case],
    assembler: Assembler,
    *,
    principals: Sequence[str] = (),
    current: CurrentText | None = None,
    answers: Mapping[str, RecordedAnswers] | None = None,
    sessions: Mapping[str, AgentSession] | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Follow every case with evidence through the assembler's store, search and plan.

    `current`: present texts of documents. `answers` and `sessions`: recorded answers and an agent's
    turns, by case id.
    """
    limit = assembler.options.limit
    store = assembler.store
    if store is None:
        raise BadOption("diagnose needs a store; make the assembler with store=")
    reader = StoreReader(store, assembler.embedder, tuple(principals))
    cases = [case for case in cases if case.evidence]
    answers, sessions = answers or {}, sessions or {}
    probes, verdicts, baselines = [], [], []
    for number, case in enumerate(cases, 1):
        followed = probe_case(case, reader, assembler, current=current)
        probes.append(followed)
        baselines.append(_naive_evidence_share(followed, assembler, reader.principals))
        verdicts.append(
            decide_verdict(followed, limit, answers.get(case.id), sessions.get(case.id))
        )
        if progress is not None:
            progress(number, len(cases), case.id)
    return Diagnosis(
        verdicts=tuple(verdicts),
        figures=measure_layers(probes, baselines, [*sessions.values()], limit),
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


def diagnosis_table(found: Diagnosis) -> Table:
    """Losses by layer with each layer's measure."""
    shown = (*LAYERS, *([MODEL] if found.counts[MODEL.name] else []))
    return Table(
        title=f"{len(found.lost)} of {len(found.verdicts)} questions lost something, by layer",
        head=("layer", "lost", "measure"),
        rows=tuple(
            (one.name, str(found.counts[one.name]), format_figures(found.figures.get(one.name, {})))
            for one in shown
        ),
    )


def list_lost(found: Diagnosis) -> list[tuple[str, str]]:
    """Each question that was lost, with its layer and how that shows."""
    return [(f"{one.dataset} {one.id}", f"{one.layer}: {one.detail}") for one in found.lost]


def list_advice(found: Diagnosis) -> list[tuple[str, str]]:
    """Each layer that lost something, and what to try."""
    return [(one.name, one.advice) for one in (*LAYERS, MODEL) if found.counts[one.name]]


def format_figures(figures: LayerFigures) -> str:
    """Figures on one line; `-` if there are none.

    >>> format_figures({"recall": 0.5, "tokens": 1200.0, "stale": None})
    'recall 0.500, tokens 1,200'
    >>> format_figures({"context_recall": 0.9, "under": 3.0})
    'context recall 0.900, 3 under 0.8'
    """
    known = [_format_figure(name, value) for name, value in figures.items() if value is not None]
    return ", ".join(known) or "-"


def _format_figure(name: str, value: float) -> str:
    if name == "under":  # pieces of evidence of which no chunk holds enough
        return f"{value:,.0f} under {MIN_EVIDENCE_SHARE}"
    label = name.replace("_", " ").replace("ndcg", "nDCG@10")
    return f"{label} " + (f"{value:,.0f}" if value >= 10 else f"{value:.3f}")


def diagnosis_to_json(found: Diagnosis) -> dict[str, Any]:
    """All of it; the same shape everywhere."""
    return {
        "questions": len(found.verdicts),
        "lost": len(found.lost),
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
        "model": found.counts[MODEL.name],
        "verdicts": [asdict(v) for v in found.verdicts],
    }
