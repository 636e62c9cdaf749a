"""A reranker between search and assembly: it scores, and where it fails the search stands.

It drops nothing: how many of its best go on is a stage's decision (`Floor.max_candidates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from foveate.core.errors import FoveateError, OutsideFailure
from foveate.core.stages.floor import Floor
from foveate.core.types import Candidate, Recipe, rank
from foveate.ports import Found, Reranker
from foveate.prepare import Call, Flow

FAILED = "not_reranked"
"""The note of a reranker that could not."""


def rerank(reranker: Reranker | None, query: str, found: Found) -> Flow[Found]:
    """The candidates in the reranker's order; `notes` say what was done.

    Its scores become `rerank_score` and `score`; ties are broken as everywhere. Whatever it
    raises, or scores that are not numbers, leave the candidates as they were found, in full.
    """
    if reranker is None or not found.candidates:
        return found
    texts = [candidate.text for candidate in found.candidates]
    try:
        scores = yield Call(
            "rerank", lambda: reranker.rerank(query, texts), lambda _: {"texts": len(texts)}
        )
        candidates = _scored(found.candidates, scores)
    except Exception as error:  # noqa: BLE001  # whatever fails outside, the search's order stands
        # Others' messages may hold what is nobody's business; ours do not.
        why = str(error) if isinstance(error, FoveateError) else type(error).__name__
        return replace(found, notes=(*found.notes, (FAILED, f"{reranker.name}: {why}")))
    notes = (*found.notes, ("reranked_by", reranker.name), ("reranked", len(candidates)))
    return replace(found, candidates=candidates, notes=notes)


def _scored(candidates: Sequence[Candidate], scores: Sequence[float]) -> tuple[Candidate, ...]:
    """Sorted by the scores; raises `OutsideFailure` where they are none."""
    given = [float(score) for score in scores]
    if len(given) != len(candidates) or not all(map(isfinite, given)):
        raise OutsideFailure(f"{len(given)} scores for {len(candidates)} texts, or not all finite")
    return tuple(
        sorted(
            (
                replace(candidate, score=score, rerank_score=score)
                for candidate, score in zip(candidates, given, strict=True)
            ),
            key=rank,
        )
    )


def kept(recipe: Recipe, keep: int) -> Recipe:
    """The recipe that begins with the best `keep` candidates; raises `BadOption`."""
    first = Floor(min_tokens=0, max_candidates=keep)
    return replace(recipe, stages=(first, *recipe.stages))
