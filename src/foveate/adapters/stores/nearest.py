"""The rows of a scan whose vectors lie nearest to a query's: every wanted row is compared."""

from __future__ import annotations

import math
from typing import Any, Protocol

from foveate.adapters.stores.int8 import dots, over_lengths
from foveate.adapters.stores.ranking import bar, best

_SHARE = 8
"""Where fewer than one row in so many is wanted, only those are read."""
_SLACK = 1e-6
"""Relative: more than the four roundings to float32 in what is looked at first can come to."""


class Compared(Protocol):
    """Rows in memory: int8 vectors, their squared lengths, and one by their lengths (float32)."""

    @property
    def vectors(self) -> Any: ...  # noqa: D102
    @property
    def norms(self) -> Any: ...  # noqa: D102
    @property
    def inverse(self) -> Any: ...  # noqa: D102


def cosines(scan: Compared, query: Any, positions: Any) -> Any:
    """Cosine of an int8 query with the rows at `positions`, float64, the same on every machine."""
    import numpy as np

    products = dots(scan.vectors.take(positions, axis=0), query).astype(np.float64)
    return over_lengths(products, scan.norms[positions], query)


def nearest(scan: Compared, query: Any, wanted: Any, depth: int) -> Any:
    """Positions, ascending, of the `depth` highest cosines and of what ties with the last of them.

    `wanted`: booleans by position, or None for every row.
    """
    import numpy as np

    if wanted is not None and np.count_nonzero(wanted) * _SHARE < len(wanted):
        rows = np.flatnonzero(wanted)
        return rows[best(cosines(scan, query, rows), depth)]
    # Looked at in float32 first; what is near enough to be among them is then compared exactly.
    rough = dots(scan.vectors, query).astype(np.float32, copy=False) * scan.inverse
    if wanted is not None:
        rough[~wanted] = -np.inf
    last = float(bar(rough, depth))
    last = last - abs(last) * _SLACK if math.isfinite(last) else -float(np.finfo(np.float32).max)
    near = np.flatnonzero(rough >= last)
    return near[best(cosines(scan, query, near), depth)]
