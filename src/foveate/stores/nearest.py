"""The rows of a scan whose vectors lie nearest to a query's: every wanted row is compared."""

from __future__ import annotations

import math
from typing import Any, Protocol

from foveate.stores.int8 import cosines_from_products, dot_products
from foveate.stores.ranking import best_positions, score_threshold

_SPARSE_RATIO = 8
"""Where fewer than one row in so many is wanted, only those are read."""
_SLACK = 1e-6
"""Relative: more than the four roundings to float32 in what is looked at first can come to."""


class VectorRows(Protocol):
    """Rows in memory: int8 vectors, their squared lengths, and one by their lengths (float32)."""

    @property
    def vectors(self) -> Any: ...  # noqa: D102
    @property
    def norms(self) -> Any: ...  # noqa: D102
    @property
    def inverse(self) -> Any: ...  # noqa: D102


def cosines(scan: VectorRows, query: Any, positions: Any) -> Any:
    """Cosine of an int8 query with the rows at `positions`, float64, the same on every machine."""
    import numpy as np

    products = dot_products(scan.vectors.take(positions, axis=0), query).astype(np.float64)
    return cosines_from_products(products, scan.norms[positions], query)


def nearest(scan: VectorRows, query: Any, wanted: Any, depth: int) -> Any:
    """Positions, ascending, of the `depth` highest cosines and of what ties with the last of them.

    `wanted`: booleans by position, or None for every row.
    """
    import numpy as np

    if wanted is not None and np.count_nonzero(wanted) * _SPARSE_RATIO < len(wanted):
        rows = np.flatnonzero(wanted)
        return rows[best_positions(cosines(scan, query, rows), depth)]
    # Looked at in float32 first; what is near enough to be among them is then compared exactly.
    rough = dot_products(scan.vectors, query).astype(np.float32, copy=False) * scan.inverse
    if wanted is not None:
        rough[~wanted] = -np.inf
    last = float(score_threshold(rough, depth))
    last = last - abs(last) * _SLACK if math.isfinite(last) else -float(np.finfo(np.float32).max)
    near = np.flatnonzero(rough >= last)
    return near[best_positions(cosines(scan, query, near), depth)]
