"""A diagnosis as tables and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveate.evals.diagnosis.figures import Figures
from foveate.evals.diagnosis.layers import LAYERS, MODEL
from foveate.evals.diagnosis.run import Diagnosis
from foveate.evals.table import Table

COUNTS = ("under",)
"""Figures that are whole numbers."""
SHOWN = 20
"""Lost questions that a terminal lists; JSON has all."""


def tables(found: Diagnosis) -> tuple[Table, ...]:
    """Losses by layer with each layer's measure, and the questions lost."""
    lost = [v for v in found.verdicts if v.layer]
    rows = [
        (
            layer.name,
            str(found.counts[layer.name]),
            said(found.figures[layer.name]),
            layer.advice if found.counts[layer.name] else "",
        )
        for layer in LAYERS
    ]
    if found.counts[MODEL]:
        advice = "another model or prompt; the context had the evidence"
        rows.append((MODEL, str(found.counts[MODEL]), "", advice))
    first = Table(
        title=f"{len(lost)} of {len(found.verdicts)} questions lost something, by layer",
        head=("layer", "lost", "measure", "what to try"),
        rows=tuple(rows),
    )
    if not lost:
        return (first,)
    shown = lost[:SHOWN]
    rest = f", the first {SHOWN} of {len(lost)}" if len(lost) > SHOWN else ""
    second = Table(
        title=f"Questions lost{rest}",
        head=("set", "question", "layer", "how it shows"),
        rows=tuple((v.dataset, v.id, v.layer, v.detail) for v in shown),
    )
    return first, second


def said(figures: Figures) -> str:
    """Figures on one line; `-` where there was nothing to measure.

    >>> said({"recall": 0.5, "tokens": 1200.0, "stale": None})
    'recall 0.500, tokens 1,200'
    >>> said({"context_recall": 0.9, "under": 3.0})
    'context recall 0.900, under 3'
    """
    known = [f"{_spelled(k)} {_number(k, v)}" for k, v in figures.items() if v is not None]
    return ", ".join(known) or "-"


def to_json(found: Diagnosis) -> dict[str, Any]:
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
        "verdicts": [_verdict(v) for v in found.verdicts],
    }


def _verdict(verdict: Any) -> Mapping[str, str]:
    return {
        "id": verdict.id,
        "dataset": verdict.dataset,
        "layer": verdict.layer,
        "detail": verdict.detail,
    }


def _spelled(name: str) -> str:
    return name.replace("_", " ").replace("ndcg", "nDCG@10")


def _number(name: str, value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or name in COUNTS else f"{value:.3f}"
