"""Jaccard similarity of word sets: shared words over all words of the two.

Sets that reach the threshold t are alike in size: the smaller is at least t times the larger. A
parity bitmap (Sandes, Teodoro and Melo, 2020) bounds how much two sets differ. The rest is compared
in full, in integers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from foveate.core.stages.dedup.resolve_duplicates import Match, Threshold

Ints: TypeAlias = NDArray[np.int64]


class Jaccard:
    """A finder of similar word sets among the kept; texts are given in order of preference.

    `narrow(i, others)`: those of `others` that text i may match whatever words they share.
    """

    def __init__(
        self, bags: Bags, threshold: Threshold, narrow: Callable[[int, Ints], Ints] | None
    ) -> None:
        self.compared = 0
        self._threshold = threshold
        self._narrow = narrow
        self._bags = bags
        self._sketch = BitmapFilter(bags)
        self._kept = np.zeros(len(bags.sizes), dtype=bool)

    def similar(self, i: int) -> list[Match]:
        """The kept texts that text i is similar to, unless neither may leave for the other."""
        return self.among(i, np.flatnonzero(self._kept[:i]))

    def keep(self, i: int) -> None:
        """Text i is kept."""
        self._kept[i] = True

    def among(self, i: int, others: Ints) -> list[Match]:
        """Those of `others` that text i is similar to."""
        bags, mine = self._bags, int(self._bags.sizes[i])
        share = self._threshold.value - 1e-9  # may let too many pass; `reached` decides
        sizes = bags.sizes[others]
        others = others[(sizes * share <= mine) & (mine * share <= sizes)]
        both = bags.sizes[others] + mine
        others = others[self._sketch.differ(i, others) * (1 + share) <= both * (1 - share)]
        if len(others) and self._narrow is not None:
            others = self._narrow(i, others)
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bags:
    """`items[starts[i]:starts[i + 1]]` are the items of text i's set, ascending."""

    sizes: Ints
    starts: Ints
    items: Ints
    universe: int

    def of(self, i: int) -> Ints:
        """Text i's items."""
        return self.items[self.starts[i] : self.starts[i + 1]]

    def overlaps(self, i: int, others: Ints) -> Ints:
        """How many items text i has in common with each of `others`; one pass over theirs."""
        mine = np.zeros(self.universe, dtype=bool)
        mine[self.of(i)] = True
        first, lengths = self.starts[others], self.starts[others + 1] - self.starts[others]
        ends = np.cumsum(lengths)
        running = np.concatenate(([0], np.cumsum(mine[self.items[_places(first, lengths)]])))
        overlaps: Ints = running[ends] - running[ends - lengths]
        return overlaps


def _places(first: Ints, lengths: Ints) -> Ints:
    """`first[0], first[0] + 1, …` for `lengths[0]` of them, then the same for the next."""
    ends = np.cumsum(lengths)
    places: Ints = np.repeat(first - ends + lengths, lengths) + np.arange(lengths.sum())
    return places


def word_bags(spelled: Sequence[Sequence[str]]) -> Bags:
    """The texts' sets of words."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    lengths = [len(words) for words in spelled]
    flat = map(numbers.__getitem__, chain.from_iterable(spelled))
    codes = np.fromiter(flat, dtype=np.int64, count=sum(lengths))
    universe = max(1, len(numbers))
    keys = np.sort(np.repeat(np.arange(len(spelled)), lengths) * universe + codes)
    keys = keys[np.diff(keys, prepend=-1) > 0]  # np.unique takes ten times as long: it hashes them
    owners, items = np.divmod(keys, universe)
    sizes = np.bincount(owners, minlength=len(spelled))
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return Bags(sizes=sizes, starts=starts, items=items, universe=universe)


_BITS = 512
_ROWS = 4096


class BitmapFilter:
    """Parity bitmaps: two sets differ in at least as many items as their bitmaps in bits."""

    def __init__(self, bags: Bags) -> None:
        texts = len(bags.sizes)
        self._bits = np.empty((texts, _BITS // 64), dtype=np.uint64)
        for first in range(0, texts, _ROWS):
            last = min(first + _ROWS, texts)
            lengths = np.diff(bags.starts[first : last + 1])
            cells = np.repeat(np.arange(last - first) * _BITS, lengths)
            cells += bags.items[bags.starts[first] : bags.starts[last]] % _BITS
            flips = np.bincount(cells, minlength=(last - first) * _BITS) & 1
            packed = np.packbits(flips.astype(bool).reshape(last - first, _BITS), axis=1)
            self._bits[first:last] = packed.view(np.uint64)

    def differ(self, i: int, others: Ints) -> Ints:
        """How many items at least stand in one of text i and the other, but not in both."""
        least: Ints = np.bitwise_count(self._bits[others] ^ self._bits[i]).sum(
            axis=1, dtype=np.int64
        )
        return least
