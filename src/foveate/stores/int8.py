"""Vectors as int8 and their exact cosines, the same in every store.

Cosines are computed from integers: float32 holds every sum exactly up to 1,040 dimensions, float64
above. `numkong`, if installed, computes the same integers faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from foveate.core.errors import BadInput
from foveate.stores.scoring import best_positions, score_threshold

BLOCK_ROWS = 4096  # rows at a time: their float32 copy stays in the cache
FLOAT32_DIMENSIONS = 1040


def quantise_or_zeros(given: Any, *, rows: int, dimensions: int) -> Any:
    """What `put` was given as int8 rows; None is zeros."""
    if given is None:
        return np.zeros((rows, dimensions), dtype=np.int8)
    return quantise(given, rows=rows, dimensions=dimensions)


def quantise(vectors: Any, *, rows: int, dimensions: int) -> Any:
    """Rows of any length → int8 by `rint(127 · x / max|x|)`, each row with its own scale."""
    array = np.asarray(vectors, dtype=np.float64)
    if array.shape != (rows, dimensions):
        raise BadInput(f"shape {array.shape}, expected {(rows, dimensions)}", field="embedding")
    if not np.isfinite(array).all():
        raise BadInput("a component is not a finite number", field="embedding")
    largest = np.abs(array).max(axis=1, keepdims=True, initial=0.0)
    scaled = np.divide(array, largest, out=np.zeros_like(array), where=largest > 0)
    return np.rint(scaled * 127).astype(np.int8)


def quantise_query(vector: Any, dimensions: int) -> Any:
    """A query's vector as int8; None without one, or for one of no direction."""
    if vector is None:
        return None
    query = quantise([vector], rows=1, dimensions=dimensions)[0]
    return query if query.any() else None


def unit_vectors(rows: Sequence[bytes]) -> list[Any]:
    """Int8 rows of one width as float32 of length 1 (zeros stay zeros); None for one of width 0."""
    if not rows or not rows[0]:
        return [None] * len(rows)
    wide = np.frombuffer(b"".join(rows), dtype=np.int8).reshape(len(rows), -1).astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))  # of whole numbers: exact in any order
    lengths[lengths == 0] = 1
    wide /= lengths[:, None]
    return list(wide.astype(np.float32))


def dot_products(rows: Any, query: Any) -> Any:
    """Exact products of an int8 query with int8 rows: whole numbers, as floats."""
    fast = load_simd_kernel()
    return (
        fast(rows, query) if fast is not None and len(rows) else dot_products_by_blas(rows, query)
    )


def dot_products_by_blas(rows: Any, query: Any) -> Any:
    """The products by multiplying matrices of floats that hold them exactly."""
    exact = np.float32 if len(query) <= FLOAT32_DIMENSIONS else np.float64
    wide, found = query.astype(exact), np.empty(len(rows), dtype=exact)
    for start in range(0, len(rows), BLOCK_ROWS):
        found[start : start + BLOCK_ROWS] = rows[start : start + BLOCK_ROWS].astype(exact) @ wide
    return found


@cache
def load_simd_kernel() -> Callable[[Any, Any], Any] | None:
    """The products by 8-bit instructions, where the package is there and its sums are right."""
    try:
        from numkong import cdist
    except ImportError:
        return None

    def fast(rows: Any, query: Any) -> Any:
        return np.asarray(cdist(query[None], rows, "dot")).reshape(-1)

    # A wrong sum on this processor would be a wrong answer: better slow.
    rows = np.full((3, 1027), 127, dtype=np.int8)
    rows[1], rows[2, ::2] = -127, -126
    return (
        fast if np.array_equal(fast(rows, rows[0]), dot_products_by_blas(rows, rows[0])) else None
    )


def cosines_from_products(products: Any, squares: Any, query: Any) -> Any:
    """Products (float64) → cosines; `squares`: the squared length of each row. 0 for no length."""
    lengths = np.sqrt(squares.astype(np.float64) * float(squared_norms(query[None])[0]))
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


def cosine_similarities(rows: Any, query: Any) -> Any:
    """Cosine of an int8 query with a few int8 rows, float64."""
    return cosines_from_products(
        dot_products(rows, query).astype(np.float64), squared_norms(rows), query
    )


def squared_norms(vectors: Any) -> Any:
    """The squared length of each row, int32."""
    found = np.empty(len(vectors), dtype=np.int32)
    for start in range(0, len(vectors), BLOCK_ROWS):
        block = vectors[start : start + BLOCK_ROWS].astype(np.int32)
        found[start : start + BLOCK_ROWS] = (block * block).sum(axis=1)
    return found


_SPARSE_RATIO = 8
"""Where fewer than one row in so many is wanted, only those are read."""
_SLACK = 1e-6
"""Relative: more than the four roundings to float32 in what is looked at first can come to."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScannedRows:
    """Rows that a search scans, by id: numpy arrays of one length."""

    ids: Any  # int64
    audiences: Any  # int32
    terms: Any  # int32: BM25's document length
    norms: Any  # int32: the squared length of each vector
    vectors: Any  # int8, (rows, dimensions)
    inverse: Any  # float32: one by the length of each vector, 0 for none


def inverse_norms(norms: Any) -> Any:
    """One by the length of each vector, float32, 0 for a vector of zeros."""
    lengths = np.sqrt(norms, dtype=np.float64)
    inverse = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return inverse.astype(np.float32)


def cosines(scan: ScannedRows, query: Any, positions: Any) -> Any:
    """Cosine of an int8 query with the rows at `positions`, float64, the same on every machine."""
    products = dot_products(scan.vectors.take(positions, axis=0), query).astype(np.float64)
    return cosines_from_products(products, scan.norms[positions], query)


def nearest(scan: ScannedRows, query: Any, wanted: Any, depth: int) -> Any:
    """Positions, ascending, of the `depth` best cosines and their ties; `wanted`: mask or None."""
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
