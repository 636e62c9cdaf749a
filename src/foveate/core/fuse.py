"""Reciprocal rank fusion of ranked lists."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import fsum, sqrt
from typing import Any, Protocol, TypeVar

from foveate.core.errors import BadOption


class _Sortable(Hashable, Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


Key = TypeVar("Key", bound=_Sortable)


def rrf(rankings: Sequence[Sequence[Key]], *, k: int = 60) -> list[tuple[Key, float]]:
    """Reciprocal rank fusion: each list gives `1 / (k + rank)`, rank from 1; best first.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual
    rank learning methods", SIGIR 2009, which also chose k = 60.

    >>> [key for key, score in rrf([["a", "b"], ["b", "c"]])]
    ['b', 'a', 'c']
    """
    if k < 0:
        raise BadOption(f"rrf: k is {k}; it must be 0 or more")
    shares: dict[Key, list[float]] = {}
    for ranking in rankings:
        for place, key in enumerate(dict.fromkeys(ranking), start=1):
            shares.setdefault(key, []).append(1.0 / (k + place))
    return _sort_best_first({key: fsum(parts) for key, parts in shares.items()})


def zsum(scored: Sequence[Mapping[Key, float]]) -> list[tuple[Key, float]]:
    """The sum of each list's z-scores; a key that a list lacks takes that list's lowest.

    A list whose scores are all equal says nothing and gives 0 to every key.

    >>> [key for key, score in zsum([{"a": 3.0, "b": 1.0}, {"a": 0.4, "c": 0.5}])]
    ['a', 'c', 'b']
    """
    lists = [_standardise(scores) for scores in scored if scores]
    keys = dict.fromkeys(key for scores in lists for key in scores)
    lowest = [min(scores.values()) for scores in lists]
    return _sort_best_first(
        {
            key: fsum(scores.get(key, low) for scores, low in zip(lists, lowest, strict=True))
            for key in keys
        }
    )


def _standardise(scores: Mapping[Key, float]) -> dict[Key, float]:
    mean = fsum(scores.values()) / len(scores)
    spread = sqrt(fsum((score - mean) ** 2 for score in scores.values()) / len(scores))
    if not spread:
        return dict.fromkeys(scores, 0.0)
    return {key: (score - mean) / spread for key, score in scores.items()}


def _sort_best_first(scores: Mapping[Key, float]) -> list[tuple[Key, float]]:
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
