from __future__ import annotations

import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from foveate.core.errors import BadInput
from foveate.stores.int8 import (
    cosines,
    dot_products_by_blas,
    load_simd_kernel,
    nearest,
    quantise,
    squared_norms,
    unit_vectors,
)
from foveate.stores.scoring import best_positions
from foveate.stores.sqlite.vectors import Scan, build_scan

BYTES = st.integers(-127, 127)


def scan_of(vectors: np.ndarray) -> Scan:
    """A scan that holds these rows and nothing else of interest."""
    rows = len(vectors)
    return build_scan(
        0,
        np.arange(1, rows + 1, dtype=np.int64),
        np.zeros(rows, dtype=np.int32),
        np.ones(rows, dtype=np.int32),
        squared_norms(vectors),
        vectors,
    )


@given(
    arrays(np.int8, (7, 5), elements=BYTES),
    arrays(np.int8, 5, elements=BYTES),
    st.lists(st.integers(0, 6), unique=True).map(sorted),
)
def test_cosines_are_integer_cosines(rows: np.ndarray, query: np.ndarray, positions: list[int]):
    """D1: dot and lengths are whole numbers; one square root and one division follow."""
    found = cosines(scan_of(rows), query, np.array(positions, dtype=np.int64))
    for position, actual in zip(positions, found.tolist(), strict=True):
        row = rows[position].tolist()
        dot = sum(a * b for a, b in zip(row, query.tolist(), strict=True))
        squares = sum(a * a for a in row) * sum(b * b for b in query.tolist())
        assert actual == (dot / math.sqrt(squares) if squares else 0.0)


def test_a_row_has_the_same_cosine_in_any_batch():
    """D1: blocks, subsets and neighbours change no bit."""
    rows = np.random.default_rng(0).integers(-127, 128, (9001, 64)).astype(np.int8)
    everything = cosines(scan_of(rows), rows[5], np.arange(9001))
    some = np.array([0, 5, 1023, 1024, 8191, 8192, 9000])
    assert everything[some].tolist() == cosines(scan_of(rows), rows[5], some).tolist()
    alone = [cosines(scan_of(rows[[i]]), rows[5], np.arange(1))[0] for i in some]
    assert everything[some].tolist() == alone
    assert everything[5] == 1.0


@given(arrays(np.float32, (3, 6), elements=st.floats(-1, 1, width=32)))
def test_quantised_rows_keep_their_direction(vectors: np.ndarray):
    """T4: each row uses all of its 8 bits, so the scale of a vector does not matter."""
    rows = quantise(vectors, rows=3, dimensions=6)
    assert rows.dtype == np.int8
    for row, vector in zip(rows, vectors, strict=True):
        assert np.abs(row.astype(int)).max() == (127 if np.abs(vector).max() > 0 else 0)
        assert np.array_equal(quantise(vector[None] * 4, rows=1, dimensions=6)[0], row)
        assert np.array_equal(quantise(unit_vectors([row.tobytes()]), rows=1, dimensions=6)[0], row)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros((1, 4)), r"shape \(1, 4\), expected \(2, 4\)"),
        (np.zeros((2, 3)), r"shape \(2, 3\), expected \(2, 4\)"),
        (np.full((2, 4), np.nan), "not a finite number"),
        (np.full((2, 4), np.inf), "not a finite number"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(vectors: np.ndarray, message: str):
    """I3: wrong shapes and numbers that are none are refused before anything is written."""
    with pytest.raises(BadInput, match=message):
        quantise(vectors, rows=2, dimensions=4)


@pytest.mark.parametrize("dimensions", [1, 3, 256, 1040, 1041, 3072])
def test_both_kernels_give_the_same_whole_numbers(dimensions: int):
    """D1: with and without the faster package, the largest sums and odd widths included."""
    random = np.random.default_rng(dimensions)
    rows = random.integers(-127, 128, (5000, dimensions)).astype(np.int8)
    rows[0], rows[1] = 127, -127
    fast = load_simd_kernel()
    assert fast is not None, "numkong is among what the tests need"
    for query in (rows[0], rows[1], rows[77]):
        exact = rows.astype(np.int64) @ query.astype(np.int64)
        assert np.array_equal(dot_products_by_blas(rows, query), exact)
        assert np.array_equal(fast(rows, query), exact)


def test_a_kernel_that_is_wrong_is_not_used(monkeypatch: pytest.MonkeyPatch):
    """D1: a processor on which the package's sums differ does without it."""
    for cdist in (lambda a, b, kind: np.zeros((1, len(b))), None):
        monkeypatch.setitem(sys.modules, "numkong", cdist and SimpleNamespace(cdist=cdist))
        load_simd_kernel.cache_clear()
        assert load_simd_kernel() is None
        rows = np.eye(3, dtype=np.int8)
        assert cosines(scan_of(rows), rows[1], np.arange(3)).tolist() == [0.0, 1.0, 0.0]
    monkeypatch.undo()
    load_simd_kernel.cache_clear()


@given(
    arrays(np.int8, (400, 3), elements=st.integers(-3, 3)),
    arrays(np.int8, 3, elements=BYTES),
    st.integers(1, 60),
    st.integers(0, 2**32),
    st.sampled_from([0.02, 0.4, 1.0]),
)
def test_the_nearest_are_those_of_a_full_sort(rows, query, depth, seed, share):
    """T4: with ties at the end, rows of zeros, and masks that hold few or many of the rows."""
    scan = scan_of(rows)
    mask = np.random.default_rng(seed).random(len(rows)) < share
    for wanted in (None, mask):
        among = np.arange(len(rows)) if wanted is None else np.flatnonzero(wanted)
        exact = cosines(scan, query, among)
        bar = sorted(exact.tolist())[-depth:][0] if len(among) else 0.0
        assert nearest(scan, query, wanted, depth).tolist() == among[exact >= bar].tolist()


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, -1.0, 7.0]), max_size=3000), st.integers(1, 4))
def test_the_best_scores_are_those_of_a_full_sort(scores: list[float], depth: int):
    """T4: all that tie with the last of the best come along."""
    bar = sorted(scores)[-depth:][0] if scores else 0.0
    expected = [i for i, score in enumerate(scores) if score >= bar]
    assert best_positions(np.array(scores), depth).tolist() == expected
