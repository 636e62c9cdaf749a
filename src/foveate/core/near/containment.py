"""Containment: how much of a text's word triples stands in another text.

Texts come fullest first, so this is the shared triples over the smaller set, and a text can only
leave for one that is as full or fuller. The fast path: a text of n triples that must share at
least m of them shares one of its n - m + 1 rarest (the prefix filter), so only those are looked
up; what is found is compared in full, in integers. A text without words matches nothing; a text
of one or two words is one run of its own and matches only its like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foveate.core.near.postings import Postings
from foveate.core.near.settle import Match

if TYPE_CHECKING:
    from foveate.core.near.bags import Bags, Ints
    from foveate.core.near.guard import Guard
    from foveate.core.near.threshold import Threshold


class Containment:
    """A finder over the texts' word triples, given in order of preference."""

    def __init__(self, bags: Bags, threshold: Threshold, guard: Guard) -> None:
        import numpy as np

        self.compared = 0
        self._threshold = threshold
        self._guard = guard
        self._bags = bags
        self._postings = Postings(len(bags.sizes))
        self._asked = np.zeros(self._bags.universe, dtype=bool)
        for i in range(len(bags.sizes)):
            self._asked[self._prefix(i)] = True

    def matches(self, i: int) -> list[Match]:
        """The kept texts that hold enough of text i."""
        size = int(self._bags.sizes[i])
        least = self._threshold.least(size)
        others = self._postings.holding(self._prefix(i).tolist())
        others = self._guard.among(i, others[self._bags.sizes[others] >= least])
        if not len(others):
            return []
        self.compared += len(others)
        shared = self._bags.overlaps(i, others)
        enough = shared >= least
        return [
            Match(other, part / size)
            for other, part in zip(others[enough].tolist(), shared[enough].tolist(), strict=True)
            if self._guard.agrees(i, other)
        ]

    def keep(self, i: int) -> None:
        """Text i is kept: post those of its triples that a text may ask for."""
        self._guard.keep(i)
        own = self._bags.of(i)
        self._postings.add(i, own[self._asked[own]].tolist())

    def _prefix(self, i: int) -> Ints:
        size = int(self._bags.sizes[i])
        return self._bags.prefix(i, size - self._threshold.least(size) + 1)
