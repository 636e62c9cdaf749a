"""A diagnosis as tables and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveate.evals.diagnosis.figures import Figures
from foveate.evals.diagnosis.layers import LAYERS, MODEL
from foveate.evals.diagnosis.probe import ENOUGH
from foveate.evals.diagnosis.run import Diagnosis
from foveate.evals.table import Table

UNDER = "under"
"""The figure that counts: pieces of evidence of which no chunk holds enough."""
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
    shown = lost[:SHOWN]
    rest = f", the first {SHOWN} of {len(lost)}" if len(lost) > SHOWN else ""
    second = Table(
        title=f"Questions lost{rest}",
        head=("set", "question", "layer", "how it shows"),
        rows=tuple((v.dataset, v.id, v.layer, v.detail) for v in shown),
    )
    return first, second


def advised(found: Diagnosis) -> tuple[tuple[str, str], ...]:
    """Each layer that lost something, and what to try."""
    pairs = [(layer.name, layer.advice) for layer in LAYERS if found.counts[layer.name]]
    if found.counts[MODEL]:
        pairs.append((MODEL, "another model or prompt; the context had the evidence"))
    return tuple(pairs)


def said(figures: Figures) -> str:
    """Figures on one line; `-` where there was nothing to measure.

    >>> said({"recall": 0.5, "tokens": 1200.0, "stale": None})
    'recall 0.500, tokens 1,200'
    >>> said({"context_recall": 0.9, "under": 3.0})
    'context recall 0.900, 3 under 0.8'
    """
    known = [_figure(name, value) for name, value in figures.items() if value is not None]
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


def _figure(name: str, value: float) -> str:
    if name == UNDER:
        return f"{value:,.0f} under {ENOUGH}"
    return f"{_spelled(name)} " + (f"{value:,.0f}" if value >= 10 else f"{value:.3f}")
