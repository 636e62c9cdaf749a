"""Jaccard similarity of word sets: shared words over all words of the two.

The fast path is the prefix filter of Bayardo, Ma and Srikant (2007, AllPairs) with the length
filter of Xiao et al. (2008, PPJoin): sets that reach the threshold t share at least t times the
larger, so they share one of the (1 - t) rarest of each. What it finds is compared in full, in
integers. A text without words matches nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foveate.core.near.postings import Postings
from foveate.core.near.settle import Match

if TYPE_CHECKING:
    from foveate.core.near.bags import Bags, Ints
    from foveate.core.near.guard import Guard
    from foveate.core.near.threshold import Threshold


class Jaccard:
    """A finder over the texts' words, given in order of preference."""

    def __init__(self, bags: Bags, threshold: Threshold, guard: Guard) -> None:
        self.compared = 0
        self._threshold = threshold
        self._guard = guard
        self._bags = bags
        self._postings = Postings(len(bags.sizes))

    def matches(self, i: int) -> list[Match]:
        """The kept texts that text i matches."""
        return self.among(i, self._guard.among(i, self.near(i)))

    def keep(self, i: int) -> None:
        """Text i is kept."""
        self._guard.keep(i)
        self._postings.add(i, self._prefix(i).tolist())

    def near(self, i: int) -> Ints:
        """The kept texts that share a rare word with text i; none that matches is missing."""
        return self._postings.holding(self._prefix(i).tolist())

    def among(self, i: int, others: Ints) -> list[Match]:
        """Those of `others` that text i matches, the guard apart from the narrowing done."""
        bags, share = self._bags, float(self._threshold.share)
        mine, theirs = int(bags.sizes[i]), bags.sizes[others]
        slack = 1e-9  # floats may only let too many pass; `reached` decides
        others = others[(theirs >= mine * (share - slack)) & (mine >= theirs * (share - slack))]
        if not len(others):
            return []
        self.compared += len(others)
        shared = bags.overlaps(i, others)
        union = mine + bags.sizes[others] - shared
        likely = shared >= union * (share - slack)
        return [
            Match(other, part / whole)
            for other, part, whole in zip(
                others[likely].tolist(),
                shared[likely].tolist(),
                union[likely].tolist(),
                strict=True,
            )
            if part and self._threshold.reached(part, whole) and self._guard.agrees(i, other)
        ]

    def _prefix(self, i: int) -> Ints:
        size = int(self._bags.sizes[i])
        return self._bags.prefix(i, size - self._threshold.least(size) + 1)
