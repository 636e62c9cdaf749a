"""The eight layers in which an answer can be lost: how each is measured, and what to try.

nDCG@10: gains are 1 for a chunk that holds evidence; Järvelin and Kekäläinen, "Cumulated
gain-based evaluation of IR techniques", 2002.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean
from typing import TypeAlias

from foveate.evals.diagnosis.probe import MIN_EVIDENCE_SHARE, Probe
from foveate.evals.diagnosis.records import AgentSession


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer; `measure` describes its figure, `advice` what to do if it loses questions."""

    name: str
    measure: str
    advice: str


EVALUATION = Layer(
    name="evaluation gap",
    measure="share of the golden evidence that stands in its document",
    advice="mend the golden set: the evidence named stands in no document, or its answer is not in "
    "it; or bring the missing documents in",
)
FRESHNESS = Layer(
    name="index freshness",
    measure="share of the documents asked about that are older in the store than in their folder",
    advice="index again (foveate index FOLDER), by night or with --watch",
)
CHUNKING = Layer(
    name="chunking",
    measure="mean share of the evidence that its best chunk holds; under 0.8 is too little",
    advice="larger chunks or more overlap (foveate index --size --overlap), or a recipe that "
    "brings neighbours in",
)
EMBEDDING = Layer(
    name="embedding",
    measure="recall of the words' leg minus recall of the vectors' leg",
    advice="another embedder, or questions and summaries stored with the documents",
)
STRATEGY = Layer(
    name="retrieval strategy",
    measure="nDCG@10 as retrieved, and with the better leg chosen for each question",
    advice="more candidates (--limit), filters, or the leg that finds it for such questions",
)
RERANKING = Layer(
    name="reranking",
    measure="nDCG@10 before and after the reranker",
    advice="another reranker, or none; or rerank more candidates and keep more of them",
)
AGENT = Layer(
    name="agent loop",
    measure="iterations and tokens a session",
    advice="keep what was found across iterations (recipe agent-session), stop when it is there",
)
ASSEMBLY = Layer(
    name="context assembly",
    measure="evidence in the context, joined by score at the same budget and as assembled",
    advice="a larger budget or another recipe; foveate assemble --explain says why it left",
)

LAYERS = (STRATEGY, CHUNKING, EMBEDDING, RERANKING, EVALUATION, AGENT, FRESHNESS, ASSEMBLY)
"""As they are reported."""

MODEL = Layer(
    name="model",
    measure="",
    advice="another model or prompt; the context had the evidence",
)
"""Not a layer of ours: the evidence was in the context, and the answer is wrong all the same."""


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
    sessions: Sequence[AgentSession],
    limit: int,
) -> dict[str, LayerFigures]:
    """Per layer, its figures by name; None if not measured.

    `baselines`: per probe, the evidence recall of its candidates joined by score.
    """
    known = [probe for probe in probes if probe.gold]
    trails = [trail for probe in probes for trail in probe.trails]
    fused = [[c.id for c in probe.rankings.fused] for probe in known]
    whole = [ndcg(r, p.gold) for r, p in zip(fused, known, strict=True)]
    legs = [max(ndcg(p.rankings.words, p.gold), ndcg(p.rankings.vectors, p.gold)) for p in known]
    pairs = zip(fused, known, strict=True)
    again = [(r, p.reranked, p.gold) for r, p in pairs if p.reranked is not None]
    stated = [t for t in trails if t.document >= MIN_EVIDENCE_SHARE]
    return {
        STRATEGY.name: {"ndcg": _mean(whole), "ndcg_routed": _mean(map(max, whole, legs))},
        CHUNKING.name: {
            "context_recall": _mean(t.chunk for t in stated),
            "under": float(sum(t.chunk < MIN_EVIDENCE_SHARE for t in stated)),
        },
        EMBEDDING.name: {
            "recall_words": _mean(_gold_recall(p.rankings.words[:limit], p) for p in known),
            "recall_vectors": _mean(_gold_recall(p.rankings.vectors[:limit], p) for p in known),
        },
        RERANKING.name: {
            "ndcg_before": _mean(ndcg(before[:limit], gold) for before, _, gold in again),
            "ndcg_after": _mean(ndcg(after, gold) for _, after, gold in again),
        },
        EVALUATION.name: {
            "recall": _mean(float(t.document >= MIN_EVIDENCE_SHARE or t.stale) for t in trails)
        },
        AGENT.name: {
            "iterations": _mean(float(len(one.turns)) for one in sessions),
            "tokens": _mean(float(sum(t.tokens for t in one.turns)) for one in sessions),
        },
        FRESHNESS.name: {"stale": _mean(float(t.stale) for t in trails)},
        ASSEMBLY.name: {
            "joined": _mean(baselines),
            "assembled": _mean(fmean(t.context for t in p.trails) for p in probes if p.trails),
        },
    }


def _gold_recall(ranking: Sequence[str], probe: Probe) -> float:
    return len(probe.gold & set(ranking)) / len(probe.gold)


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
