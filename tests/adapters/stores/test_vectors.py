from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from foveate.adapters.stores.int8 import norms, quantise, units
from foveate.adapters.stores.vectors import Scan, cosines
from foveate.core.errors import BadInput

BYTES = st.integers(-127, 127)


def scan_of(vectors: np.ndarray) -> Scan:
    """A scan that holds these rows and nothing else of interest."""
    rows = len(vectors)
    return Scan(
        generation=1,
        version=bytes(32),
        ids=np.arange(1, rows + 1, dtype=np.int64),
        audiences=np.zeros(rows, dtype=np.int32),
        terms=np.ones(rows, dtype=np.int32),
        norms=norms(vectors),
        vectors=vectors,
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


@pytest.mark.parametrize("dimensions", [1, 256, 1040, 1041, 3072])
def test_dot_products_are_exact_at_every_width(dimensions: int):
    """D1: the largest sums that can occur come out as whole numbers, none rounded."""
    row = np.full(dimensions, 127, dtype=np.int8)
    row[::2] = 126
    rows = np.stack([row, -row, np.roll(row, 1)])
    query = np.full(dimensions, 127, dtype=np.int8)
    found = cosines(scan_of(rows), query, np.arange(3))
    exact = [sum(int(a) * 127 for a in r) for r in rows.tolist()]
    lengths = [(sum(a * a for a in r) * 127 * 127 * dimensions) ** 0.5 for r in rows.tolist()]
    assert found.tolist() == [dot / length for dot, length in zip(exact, lengths, strict=True)]


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
        assert np.array_equal(quantise(units([row.tobytes()]), rows=1, dimensions=6)[0], row)


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
