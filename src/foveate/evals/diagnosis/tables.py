"""A diagnosis as tables and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from foveate.evals.diagnosis.figures import LayerFigures
from foveate.evals.diagnosis.layers import LAYERS, MODEL
from foveate.evals.diagnosis.probe import MIN_EVIDENCE_SHARE
from foveate.evals.diagnosis.run import Diagnosis
from foveate.evals.tables import Table

UNDER = "under"
"""The figure that counts: pieces of evidence of which no chunk holds enough."""
MAX_SHOWN_QUESTIONS = 20
"""Lost questions that a terminal lists; JSON has all."""


def diagnosis_tables(found: Diagnosis) -> tuple[Table, ...]:
    """Losses by layer with each layer's measure, and the questions lost."""
    lost = [v for v in found.verdicts if v.layer]
    rows = [
        (
            layer.name,
            str(found.counts[layer.name]),
            format_figures(found.figures[layer.name]),
        )
        for layer in LAYERS
    ]
    if found.counts[MODEL]:
        rows.append((MODEL, str(found.counts[MODEL]), ""))
    first = Table(
        title=f"{len(lost)} of {len(found.verdicts)} questions lost something, by layer",
        head=("layer", "lost", "measure"),
        rows=tuple(rows),
    )
    if not lost:
        return (first,)
    shown = lost[:MAX_SHOWN_QUESTIONS]
    rest = (
        f", the first {MAX_SHOWN_QUESTIONS} of {len(lost)}"
        if len(lost) > MAX_SHOWN_QUESTIONS
        else ""
    )
    second = Table(
        title=f"Questions lost{rest}",
        head=("set", "question", "layer", "how it shows"),
        rows=tuple((v.dataset, v.id, v.layer, v.detail) for v in shown),
    )
    return first, second


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
