"""Each layer's primary measure over a golden set, from the probes.

nDCG@10: gains are 1 for a chunk that holds evidence; Järvelin and Kekäläinen, "Cumulated
gain-based evaluation of IR techniques", 2002.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log2
from statistics import fmean
from typing import TypeAlias

from foveate.evals.diagnosis import layers
from foveate.evals.diagnosis.probe import MIN_EVIDENCE_SHARE, Probe
from foveate.evals.diagnosis.verdict import AgentTurn

NDCG_DEPTH = 10
LayerFigures: TypeAlias = Mapping[str, float | None]


def ndcg(ranking: Sequence[str], gold: frozenset[str]) -> float:
    """nDCG@10 of a ranking.

    >>> ndcg(["a", "b"], frozenset("b")), ndcg(["b"], frozenset("b")), ndcg([], frozenset("b"))
    (0.6309297535714575, 1.0, 0.0)
    """
    gained = sum(1 / log2(n + 1) for n, name in enumerate(ranking[:NDCG_DEPTH], 1) if name in gold)
    best = sum(1 / log2(n + 1) for n in range(1, min(NDCG_DEPTH, len(gold)) + 1))
    return gained / best if best else 0.0


def measure_layers(
    probes: Sequence[Probe],
    baselines: Sequence[float],
    sessions: Mapping[str, Sequence[AgentTurn]],
    limit: int,
) -> dict[str, LayerFigures]:
    """Per layer, its figures by name; None if not measured.

    `baselines`: per probe, the evidence recall of its candidates joined by score.
    """
    known = [probe for probe in probes if probe.gold]
    trails = [trail for probe in probes for trail in probe.trails]
    fused = [[c.id for c in probe.rankings.fused] for probe in known]
    return {
        layers.STRATEGY.name: {
            "ndcg": _mean(ndcg(r, p.gold) for r, p in zip(fused, known, strict=True)),
            "ndcg_routed": _mean(
                max(
                    ndcg(r, p.gold),
                    ndcg(p.rankings.words, p.gold),
                    ndcg(p.rankings.vectors, p.gold),
                )
                for r, p in zip(fused, known, strict=True)
            ),
        },
        layers.CHUNKING.name: {
            "context_recall": _mean(t.chunk for t in trails if t.document >= MIN_EVIDENCE_SHARE),
            "under": float(sum(t.chunk < MIN_EVIDENCE_SHARE <= t.document for t in trails)),
        },
        layers.EMBEDDING.name: {
            "recall_words": _mean(_gold_recall(p.rankings.words[:limit], p) for p in known),
            "recall_vectors": _mean(_gold_recall(p.rankings.vectors[:limit], p) for p in known),
        },
        layers.RERANKING.name: {
            "ndcg_before": _mean(
                ndcg(r[:limit], p.gold)
                for r, p in zip(fused, known, strict=True)
                if p.reranked is not None
            ),
            "ndcg_after": _mean(ndcg(p.reranked, p.gold) for p in known if p.reranked is not None),
        },
        layers.EVALUATION.name: {
            "recall": _mean(float(t.document >= MIN_EVIDENCE_SHARE or t.stale) for t in trails)
        },
        layers.AGENT.name: {
            "iterations": _mean(float(len(turns)) for turns in sessions.values()),
            "tokens": _mean(float(sum(t.tokens for t in turns)) for turns in sessions.values()),
        },
        layers.FRESHNESS.name: {"stale": _mean(float(t.stale) for t in trails)},
        layers.ASSEMBLY.name: {
            "joined": _mean(baselines),
            "assembled": _mean(fmean(t.context for t in p.trails) for p in probes if p.trails),
        },
    }


def _gold_recall(ranking: Sequence[str], probe: Probe) -> float:
    return len(probe.gold & set(ranking)) / len(probe.gold)


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
