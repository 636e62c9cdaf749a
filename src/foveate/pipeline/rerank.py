"""A reranker between search and assembly. If it fails, the order of the search stays.

It drops nothing: how many of the best go on is a stage's decision (`Floor.max_candidates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import TypeAlias

from foveate.core.errors import ExternalError, FoveateError
from foveate.core.types import Candidate, Number, rank
from foveate.pipeline.steps import Call, Flow
from foveate.ports import Reranker

FAILED = "not_reranked"
"""The note of a reranker that failed."""
Notes: TypeAlias = tuple[tuple[str, Number], ...]


def rerank(
    reranker: Reranker | None, query: str, candidates: tuple[Candidate, ...]
) -> Flow[tuple[tuple[Candidate, ...], Notes]]:
    """The candidates in the reranker's order, and notes on what was done.

    Its scores become `rerank_score` and `score`; ties are broken by the total order. If it raises,
    or gives scores that are not finite numbers, the candidates stay as they were found.
    """
    if reranker is None or not candidates:
        return candidates, ()
    texts = [candidate.text for candidate in candidates]
    try:
        scores = yield Call(
            "rerank", lambda: reranker.rerank(query, texts), lambda _: {"texts": len(texts)}
        )
        ranked = _scored(candidates, scores)
    except Exception as error:  # noqa: BLE001  # whatever fails outside, the search's order stands
        # A message from outside may hold content that must not be shown; ours do not.
        why = str(error) if isinstance(error, FoveateError) else type(error).__name__
        return candidates, ((FAILED, f"{reranker.name}: {why}"),)
    return ranked, (("reranked_by", reranker.name), ("reranked", len(ranked)))


def _scored(candidates: Sequence[Candidate], scores: Sequence[float]) -> tuple[Candidate, ...]:
    """Sorted by the scores; raises `ExternalError` where they are none."""
    given = [float(score) for score in scores]
    if len(given) != len(candidates) or not all(map(isfinite, given)):
        raise ExternalError(f"{len(given)} scores for {len(candidates)} texts, or not all finite")
    return tuple(
        sorted(
            (
                replace(candidate, score=score, rerank_score=score)
                for candidate, score in zip(candidates, given, strict=True)
            ),
            key=rank,
        )
    )
