"""A few bits of every set that tell at once how different two sets are at least.

The parity bitmap of Sandes, Teodoro and Melo (2020): every item flips one of 256 bits, so two
sets differ in at least as many items as their bitmaps differ in bits. A bound, never a guess:
it can let a pair through that does not match, and cannot hold one back that does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foveate.core.stages.dedup.item_arrays import Bags, Ints

_BITS = 256
_ROWS = 4096


class BitmapFilter:
    """The bitmaps of many sets."""

    def __init__(self, bags: Bags) -> None:
        import numpy as np

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
        import numpy as np

        bits = np.bitwise_count(self._bits[others] ^ self._bits[i]).sum(axis=1, dtype=np.int64)
        least: Ints = bits + self._lonely[others] + self._lonely[i]
        return least
