"""Which kept texts hold an item: an inverted index that grows as texts are kept."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foveate.core.stages.dedup.item_arrays import Ints

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
        import numpy as np

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
