"""The parts of the near-duplicate search, each against what it stands for."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.dedup.resolve_duplicates import Threshold
from foveate.core.stages.dedup.semantic import quantise

VALUES = st.floats(0.01, 1.0)


@given(value=VALUES, strict=st.booleans(), part=st.integers(0, 60), whole=st.integers(0, 60))
def test_a_threshold_counts_in_fractions(value, strict, part, whole):
    """S4: reached, by a root, and the least count: as fractions of the written number say."""
    threshold, share = Threshold(value, strict=strict), Fraction(str(value))
    beyond = part > share * whole if strict else part >= share * whole

    assert threshold.is_reached(part, whole) == beyond
    assert threshold.is_reached_by_root(part, whole**2) == (beyond and part > 0)
    assert threshold.is_reached(threshold.least(whole), whole)
    assert not threshold.is_reached(threshold.least(whole) - 1, whole)


@pytest.mark.parametrize("dimensions", [1, 2, 64, 384, 3072])
def test_rows_are_whole_numbers_that_keep_the_cosine(dimensions):
    """D1: whole numbers whose products float32 holds exactly; a cosine moves by less than 0.001."""
    import numpy as np

    vectors = np.random.default_rng(0).standard_normal((20, dimensions))
    vectors[1] = 0
    vectors[1, 0] = 1e-30
    rows, squares = quantise([*vectors, None, np.zeros(dimensions)])
    lengths = np.sqrt((vectors * vectors).sum(1))
    lengths[1] = 1e-30
    exact = vectors @ vectors.T / np.outer(lengths, lengths)
    root = np.sqrt(squares[:20])

    assert rows.dtype == np.float32
    assert squares.max() < 2**24
    assert squares[20:].tolist() == [0, 0]
    assert (rows == np.rint(rows)).all()
    assert np.abs(rows[:20] @ rows[:20].T / np.outer(root, root) - exact).max() < 0.001


def test_products_that_float32_could_round_are_made_in_float64():
    """D1: where rounding up makes rows longer than 2**12, sums may pass 2**24 and float64 holds."""
    import numpy as np

    rows, squares = quantise([np.ones(100_000)])

    assert rows.dtype == np.float64
    assert squares.tolist() == [100_000 * 13**2]
    assert squares[0] >= 2**24
