"""Which of a text's items are worth looking up, and which worth posting.

The prefix filter of Bayardo, Ma and Srikant (2007), on sets ordered from the rarest item on. A
set of n items that must share at least m of them with another set has one of them among its
n - m + 1 rarest: the other m - 1 alone are too few. So those are looked up, and found in the other
set's own prefix, where the other must share as large a part.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.stages.dedup.item_arrays import Bags, Ints
    from foveate.core.stages.dedup.threshold import Threshold


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prefix:
    """Per text: the items to look up, and the items to post once it is kept."""

    asked: list[list[int]]
    posted: list[list[int]]


def symmetric_prefix(bags: Bags, threshold: Threshold) -> Prefix:
    """For a similarity that both sets must share a part of."""
    import numpy as np

    rare = _rare(bags, threshold)
    prefixes = np.bincount(bags.items[rare], minlength=bags.universe)
    asked = _lists(bags, rare & (prefixes[bags.items] > 1))
    return Prefix(asked=asked, posted=asked)


def _rare(bags: Bags, threshold: Threshold) -> NDArray[np.bool_]:
    """Which items stand in their text's prefix; the lonely ones are the rarest and count too."""
    import numpy as np

    sizes, back = np.unique(bags.sizes, return_inverse=True)
    least = np.array([threshold.least(size) for size in sizes.tolist()], dtype=np.int64)
    depths = bags.sizes - least[back] + 1 - bags.lonely
    lengths = np.diff(bags.starts)
    within = np.arange(len(bags.items)) - np.repeat(bags.starts[:-1], lengths)
    rare: NDArray[np.bool_] = within < np.repeat(depths, lengths)
    return rare


def _lists(bags: Bags, chosen: NDArray[np.bool_]) -> list[list[int]]:
    import numpy as np

    items = bags.items[chosen].tolist()
    ends: Ints = np.concatenate(([0], np.cumsum(chosen)))[bags.starts]
    return [items[first:last] for first, last in pairwise(ends.tolist())]
