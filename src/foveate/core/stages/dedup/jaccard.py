"""Jaccard similarity of word sets: shared words over all words of the two.

The fast path: sets that reach the threshold t share at least t times the larger, so the prefix
filter finds them (`prefix.py`). Of what it finds, `sketch.py` rules out nearly all that do not
match; the rest is compared in full, in integers. A text without words matches nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foveate.core.stages.dedup.bitmap_filter import BitmapFilter
from foveate.core.stages.dedup.inverted_index import Postings
from foveate.core.stages.dedup.prefix_filter import symmetric_prefix
from foveate.core.stages.dedup.resolve_duplicates import Match

if TYPE_CHECKING:
    from foveate.core.stages.dedup.guard import Guard
    from foveate.core.stages.dedup.item_arrays import Bags, Ints
    from foveate.core.stages.dedup.threshold import Threshold


class Jaccard:
    """A finder of similar word sets among the kept; texts are given in order of preference."""

    def __init__(self, bags: Bags, threshold: Threshold, guard: Guard) -> None:
        self.compared = 0
        self._threshold = threshold
        self._guard = guard
        self._bags = bags
        self._sketch = BitmapFilter(bags)
        self._prefix = symmetric_prefix(bags, threshold)
        self._postings = Postings(len(bags.sizes))

    def similar(self, i: int) -> list[Match]:
        """The kept texts that text i is similar to, unless neither may leave for the other."""
        others = self.near(i)
        return [] if others is None else self.among(i, others)

    def keep(self, i: int) -> None:
        """Text i is kept."""
        self._guard.keep(i)
        self._postings.add(i, self._prefix.posted[i])

    def near(self, i: int) -> Ints | None:
        """The kept texts that share a rare word with text i; none that matches is missing."""
        return self._postings.holding(self._prefix.asked[i])

    def among(self, i: int, others: Ints) -> list[Match]:
        """Those of `others` that text i is similar to."""
        bags, mine = self._bags, int(self._bags.sizes[i])
        share = self._threshold.value - 1e-9  # may let too many pass; `reached` decides
        both = bags.sizes[others] + mine
        others = others[self._sketch.differ(i, others) * (1 + share) <= both * (1 - share)]
        if len(others):
            others = self._guard.among(i, others)
        if not len(others):
            return []
        self.compared += len(others)
        shared = bags.overlaps(i, others)
        union = mine + bags.sizes[others] - shared
        likely = shared >= union * share
        columns = (column[likely].tolist() for column in (others, shared, union))
        return [
            Match(other, part / whole)
            for other, part, whole in zip(*columns, strict=True)
            if part and self._threshold.is_reached(part, whole)
        ]
