"""Reciprocal rank fusion of ranked lists."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import fsum
from typing import Any, Protocol, TypeVar


class _Sortable(Hashable, Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


Key = TypeVar("Key", bound=_Sortable)


RRF_K = 60
"""The paper's constant: how little the first places of a ranking are apart."""


def rrf(rankings: Sequence[Sequence[Key]]) -> list[tuple[Key, float]]:
    """Reciprocal rank fusion: each list gives `1 / (RRF_K + rank)`, rank from 1; best first.

    A key that a list holds twice counts once, at its best place. Ties go by key, and sums are
    exact, so the order of the lists does not matter. Cormack, Clarke and Büttcher, "Reciprocal rank
    fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009.

    >>> [key for key, score in rrf([["a", "b"], ["b", "c"]])]
    ['b', 'a', 'c']
    """
    shares: dict[Key, list[float]] = {}
    for ranking in rankings:
        for place, key in enumerate(dict.fromkeys(ranking), start=1):
            shares.setdefault(key, []).append(1.0 / (RRF_K + place))
    sums = {key: fsum(parts) for key, parts in shares.items()}
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))
