"""Which number of a list of candidates is their score: the field says what a score is.

A reranker's decides before `score`, that before `semantic_score`, that before `lexical_score`. The
kind is that of the list: numbers of two kinds cannot be compared, so what has none of the deciding
kind stands behind all that has one. In a list without scores, the order is the score.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from math import inf, nextafter
from operator import attrgetter

from foveate.core.types import Candidate, Number

RANK_SMOOTHING = 60
"""As in reciprocal rank fusion: the first few places are told apart, and not too much."""
BY_PRECEDENCE = ("rerank_score", "score", "semantic_score", "lexical_score")
ORDER_OF_LIST = "the order of the list"
_BEHIND = 0.1
"""How far those without a score may stand behind the last one, as a share of the others' range: so
little that the range, by which it is told what separates, stays what the scores say."""
_get_others = attrgetter("rerank_score", "semantic_score", "lexical_score")
_NO_OTHERS = (None, None, None)


class ScoredList(tuple[Candidate, ...]):  # noqa: SLOT001 (a tuple has no slots)
    """Candidates whose score does not say by itself where it is from: `notes` do."""

    notes: tuple[tuple[str, Number], ...] = ()


def score_of_place(place: int) -> float:
    """The score of a place in a list that is best first, counted from 1."""
    return 1 / (RANK_SMOOTHING + place)


def decide_scores(
    candidates: Sequence[Candidate], has_score: Sequence[bool]
) -> tuple[Candidate, ...]:
    """The candidates, in their order, each with the number that decides as its score.

    `has_score`: of which `score` was given. A list in which that decides is a plain tuple.
    """
    plain = all(has_score) and all(c.rerank_score is None for c in candidates)
    others = any(_get_others(c) != _NO_OTHERS for c in candidates)
    if plain and others and not any(c.score for c in candidates):
        return _noted(candidates, ("scores_from", "score"))  # else a 0 read again is not given
    if plain or (len(candidates) == 1 and not others):
        return tuple(candidates)
    given = [_numbers(c, has_score=has) for c, has in zip(candidates, has_score, strict=True)]
    kind = min((place for numbers in given for place, _ in numbers), default=None)
    if kind is None:
        found = [_unscored(c, score_of_place(n)) for n, c in enumerate(candidates, 1)]
        return _noted(found, ("scores_from", ORDER_OF_LIST))
    behind = _places_behind(given, kind)
    scores = [numbers[0][1] for n, numbers in enumerate(given) if n not in behind]
    low = min(scores)
    places = len({*behind.values()})
    step = _BEHIND * (min(max(scores) - low, 1e300) or 1.0) / max(places, 1)
    fallen = [low]
    for _ in range(places):
        fallen.append(max(min(fallen[-1] - step, nextafter(fallen[-1], -inf)), -sys.float_info.max))
    found = [
        _unscored(c, fallen[behind[n]]) if n in behind else _with_score(c, given[n][0][1])
        for n, c in enumerate(candidates)
    ]
    if not behind and found == list(candidates):
        return tuple(candidates)
    notes: list[tuple[str, Number]] = [("scores_from", BY_PRECEDENCE[kind])]
    if behind:
        notes.append(("ranked_behind", len(behind)))
    return _noted(found, *notes)


def _numbers(candidate: Candidate, *, has_score: bool) -> list[tuple[int, float]]:
    """The candidate's scores with their place in the precedence, the deciding one first."""
    values = [
        None if name == "score" and not has_score else getattr(candidate, name)
        for name in BY_PRECEDENCE
    ]
    return [(place, value) for place, value in enumerate(values) if value is not None]


def _places_behind(given: Sequence[list[tuple[int, float]]], kind: int) -> dict[int, int]:
    """Of what has no score of this kind: how many steps behind, by what else it has.

    What has no score at all stands last, in the order of the list.
    """
    keys = {
        n: (numbers[0][0], -numbers[0][1]) if numbers else (len(BY_PRECEDENCE), float(n))
        for n, numbers in enumerate(given)
        if not numbers or numbers[0][0] != kind
    }
    steps = {key: step for step, key in enumerate(sorted(set(keys.values())), 1)}
    return {n: steps[key] for n, key in keys.items()}


def _with_score(candidate: Candidate, score: float) -> Candidate:
    return candidate if candidate.score == score else replace(candidate, score=score)


def _unscored(candidate: Candidate, score: float) -> Candidate:
    return replace(candidate, score=score, scored=False)


def _noted(found: Sequence[Candidate], *notes: tuple[str, Number]) -> ScoredList:
    made = ScoredList(found)
    made.notes = notes
    return made
