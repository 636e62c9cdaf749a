"""Jaccard similarity of word sets: shared words over all words of the two.

Items are numbered from the rarest on. Sets that reach the threshold t share at least t times the
larger, so a set of n items that must share m has one of them among its n - m + 1 rarest (the prefix
filter of Bayardo, Ma and Srikant, 2007). A parity bitmap (Sandes, Teodoro and Melo, 2020) bounds
how much two sets differ. The rest is compared in full, in integers.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from foveate.core.stages.dedup.guard import Guard
from foveate.core.stages.dedup.resolve_duplicates import Match, Threshold

Ints: TypeAlias = NDArray[np.int64]


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
        self._postings.add(i, self._prefix[i])

    def near(self, i: int) -> Ints | None:
        """The kept texts that share a rare word with text i; none that matches is missing."""
        return self._postings.holding(self._prefix[i])

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bags:
    """`items[starts[i]:starts[i + 1]]` are text i's shared items, rarest first, ascending."""

    sizes: Ints
    lonely: Ints
    starts: Ints
    items: Ints
    universe: int

    def of(self, i: int) -> Ints:
        """Text i's shared items."""
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
    return _bags(*_numbered(spelled), len(spelled))


def _numbered(texts: Sequence[Collection[str]]) -> tuple[Ints, Ints]:
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    lengths = [len(words) for words in texts]
    flat = map(numbers.__getitem__, chain.from_iterable(texts))
    codes = np.fromiter(flat, dtype=np.int64, count=sum(lengths))
    return codes, np.repeat(np.arange(len(texts)), lengths)


def _bags(codes: Ints, owners: Ints, texts: int) -> Bags:
    """Sort by item, drop repeats within a text, number the shared items from the rarest on."""
    if texts * (int(codes.max(initial=0)) + 1) >= 2**63:
        codes = np.unique(codes, return_inverse=True)[1]
    keys = codes * max(1, texts) + owners
    keys.sort()
    keys = keys[_fresh(keys)]
    codes, owners = np.divmod(keys, max(1, texts))
    item = np.cumsum(_fresh(codes)) - 1
    holders = np.bincount(item)
    place = np.empty(len(holders), dtype=np.int64)
    place[np.argsort(holders, kind="stable")] = np.arange(len(holders))
    alone = int(np.count_nonzero(holders == 1))
    universe = len(holders) - alone
    shared = holders[item] > 1
    keys = owners[shared] * max(1, universe) + place[item[shared]] - alone
    keys.sort()
    sizes = np.bincount(owners, minlength=texts)
    many = np.bincount(owners[shared], minlength=texts)
    return Bags(
        sizes=sizes,
        lonely=sizes - many,
        starts=np.concatenate(([0], np.cumsum(many))),
        items=keys % max(1, universe),
        universe=universe,
    )


def _fresh(ascending: Ints) -> NDArray[np.bool_]:
    fresh = np.ones(len(ascending), dtype=bool)
    fresh[1:] = ascending[1:] != ascending[:-1]
    return fresh


def symmetric_prefix(bags: Bags, threshold: Threshold) -> list[list[int]]:
    """Per text the items to look up, and to post once it is kept."""
    rare = _rare(bags, threshold)
    prefixes = np.bincount(bags.items[rare], minlength=bags.universe)
    return _lists(bags, rare & (prefixes[bags.items] > 1))


def _rare(bags: Bags, threshold: Threshold) -> NDArray[np.bool_]:
    sizes, back = np.unique(bags.sizes, return_inverse=True)
    least = np.array([threshold.least(size) for size in sizes.tolist()], dtype=np.int64)
    depths = bags.sizes - least[back] + 1 - bags.lonely
    lengths = np.diff(bags.starts)
    within = np.arange(len(bags.items)) - np.repeat(bags.starts[:-1], lengths)
    rare: NDArray[np.bool_] = within < np.repeat(depths, lengths)
    return rare


def _lists(bags: Bags, chosen: NDArray[np.bool_]) -> list[list[int]]:
    items = bags.items[chosen].tolist()
    ends: Ints = np.concatenate(([0], np.cumsum(chosen)))[bags.starts]
    return [items[first:last] for first, last in pairwise(ends.tolist())]


_FEW = 64


class Postings:
    """Lists of text numbers by item number; texts are added in ascending order."""

    def __init__(self, texts: int) -> None:
        self._texts = texts
        self._lists: defaultdict[int, array[int]] = defaultdict(partial(array, "q"))

    def add(self, i: int, items: Iterable[int]) -> None:
        """Text i holds these items."""
        for item in items:
            self._lists[item].append(i)

    def holding(self, items: Iterable[int]) -> Ints | None:
        """The texts that hold any of the items, ascending; None of them is None."""
        lists = self._lists
        found = [lists[item] for item in items if item in lists]
        if not found:
            return None
        if sum(map(len, found)) <= _FEW:
            return np.array(sorted(set().union(*found)), dtype=np.int64)
        held = np.zeros(self._texts, dtype=bool)
        for posting in found:
            held[np.frombuffer(posting, dtype=np.int64)] = True
        return np.flatnonzero(held)


_BITS = 256
_ROWS = 4096


class BitmapFilter:
    """Parity bitmaps: two sets differ in at least as many items as their bitmaps in bits."""

    def __init__(self, bags: Bags) -> None:
        texts = len(bags.sizes)
        self._lonely = bags.lonely
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
        bits = np.bitwise_count(self._bits[others] ^ self._bits[i]).sum(axis=1, dtype=np.int64)
        least: Ints = bits + self._lonely[others] + self._lonely[i]
        return least
