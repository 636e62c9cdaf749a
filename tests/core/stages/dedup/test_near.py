"""The parts of the near-duplicate search, each against what it stands for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.stages.dedup.candidate_pairs import find_candidate_pairs
from foveate.core.stages.dedup.similarity import Threshold, whole_numbers
from foveate.core.text.words import split_words, word_runs

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
def test_vectors_in_whole_numbers_keep_the_cosine(dimensions):
    """D1: whole numbers, whose products are exact in any order; a cosine moves by under 0.001."""
    vectors = np.random.default_rng(0).standard_normal((20, dimensions))
    vectors[1] = 0
    vectors[1, 0] = 1e-30
    rows = np.array([whole_numbers(vector) for vector in vectors])
    scaled = vectors / np.abs(vectors).max(1, keepdims=True)
    roots = np.sqrt((scaled * scaled).sum(1)), np.sqrt((rows * rows).sum(1))
    exact, found = (a @ a.T / np.outer(b, b) for a, b in zip((scaled, rows), roots, strict=True))

    assert rows.dtype == np.int64
    assert np.abs(found - exact).max() < 0.001
    assert not whole_numbers(np.zeros(dimensions)).any()


TEXTS = st.lists(
    st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join), min_size=1, max_size=9
)


@given(
    texts=TEXTS,
    value=st.sampled_from([0.1, 0.5, 0.8, 1.0]),
    frequent=st.sampled_from([2, 4, 64]),
    many=st.sampled_from([1, 1 << 21]),
)
def test_pairs_are_those_that_counting_finds(texts, value, frequent, many):
    """S4: triples in more texts than `FREQUENT` make no pair, however many are counted at once."""
    share = Threshold(value)
    runs = [set(word_runs(split_words(text))) for text in texts]
    rare = [{run for run in own if sum(run in other for other in runs) <= frequent} for own in runs]
    least = [share.least(len(own)) for own in runs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("foveate.core.stages.dedup.candidate_pairs.FREQUENT", frequent)
        patch.setattr("foveate.core.stages.dedup.candidate_pairs.MANY", many)
        found = find_candidate_pairs(texts, share)

    partners = {
        i: [
            n
            for n in range(len(texts))
            if n != i and len(rare[i] & rare[n]) >= max(least[i] - len(runs[i] - rare[i]), 1)
        ]
        for i in range(len(texts))
    }
    assert {i: sorted(own) for i, own in found.partners.items()} == {
        i: own for i, own in partners.items() if own
    }
    assert found.crowd == {
        i for i in range(len(texts)) if runs[i] and len(runs[i] - rare[i]) >= least[i]
    }
