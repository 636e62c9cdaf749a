"""A reranker between search and assembly: it scores, and where it fails the search stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

from foveate.core.errors import BadOption, FoveateError, OutsideFailure
from foveate.core.types import Candidate, rank
from foveate.ports import Found, Reranker
from foveate.prepare import Call, Flow


def rerank(reranker: Reranker | None, query: str, found: Found, keep: int | None) -> Flow[Found]:
    """The candidates in the reranker's order, the best `keep` of them; `notes` say what was done.

    Its scores become `rerank_score` and `score`; ties are broken as everywhere. Whatever it
    raises, or scores that are not numbers, leave the candidates as they were found, in full.
    """
    if keep is not None and keep < 1:
        raise BadOption(f"rerank: keep is {keep}; it must be 1 or more")
    if reranker is None or not found.candidates:
        return found
    texts = [candidate.text for candidate in found.candidates]
    try:
        scores = yield Call(lambda: reranker.rerank(query, texts))
        candidates = _scored(found.candidates, scores)
    except Exception as error:  # noqa: BLE001  # whatever fails outside, the search's order stands
        # Others' messages may hold what is nobody's business; ours do not.
        why = str(error) if isinstance(error, FoveateError) else type(error).__name__
        return replace(found, notes=(*found.notes, ("not_reranked", f"{reranker.name}: {why}")))
    notes = (*found.notes, ("reranked_by", reranker.name), ("reranked", len(candidates)))
    return replace(found, candidates=candidates[:keep], notes=notes)


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
