"""Containment: how much of a text's word triples stands in another text.

Texts come fullest first, so this is the shared triples over the smaller set, and a text can only
leave for one that is as full or fuller. The fast path: the prefix filter on the text that leaves
(`prefix.py`); what `sketch.py` does not rule out is compared in full, in integers. A text without
words matches nothing; a text of one or two words is one run of its own and matches only its like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foveate.core.near.postings import Postings
from foveate.core.near.prefix import one_sided
from foveate.core.near.settle import Match
from foveate.core.near.sketch import Sketch

if TYPE_CHECKING:
    from foveate.core.near.bags import Bags
    from foveate.core.near.guard import Guard
    from foveate.core.near.threshold import Threshold


class Containment:
    """A finder over the texts' word triples, given in order of preference."""

    def __init__(self, bags: Bags, threshold: Threshold, guard: Guard) -> None:
        self.compared = 0
        self._threshold = threshold
        self._guard = guard
        self._bags = bags
        self._sketch = Sketch(bags)
        self._prefix = one_sided(bags, threshold)
        self._postings = Postings(len(bags.sizes))

    def matches(self, i: int) -> list[Match]:
        """The kept text that holds enough of text i; of several the last, the closest to it."""
        others = self._postings.holding(self._prefix.asked[i])
        if others is None:
            return []
        bags, size = self._bags, int(self._bags.sizes[i])
        least = self._threshold.least(size)
        others = others[self._sketch.differ(i, others) <= bags.sizes[others] + size - 2 * least]
        if len(others):
            others = self._guard.among(i, others)
        if not len(others):
            return []
        self.compared += len(others)
        shared = bags.overlaps(i, others)
        for other, part in zip(others[::-1].tolist(), shared[::-1].tolist(), strict=True):
            if part >= least and self._guard.agrees(i, other):
                return [Match(other, part / size)]
        return []

    def keep(self, i: int) -> None:
        """Text i is kept."""
        self._guard.keep(i)
        self._postings.add(i, self._prefix.posted[i])
