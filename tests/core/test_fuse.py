from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.fuse import rrf

KEYS = st.sampled_from("abcdefgh")
RANKINGS = st.lists(st.lists(KEYS, unique=True, max_size=8), max_size=4)


@given(RANKINGS)
def test_rrf_is_the_sum_of_reciprocal_ranks(rankings: list[list[str]]):
    """T4: each list gives 1 / (60 + rank); checked with exact fractions."""
    exact: dict[str, Fraction] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            exact[key] = exact.get(key, Fraction(0)) + Fraction(1, 60 + rank)
    expected = sorted(exact, key=lambda key: (-float(exact[key]), key))
    fused = rrf(rankings)
    assert dict(fused) == pytest.approx(
        {key: float(score) for key, score in exact.items()}, rel=1e-15
    )
    assert sorted(key for key, _ in fused) == sorted(expected)
    assert [score for _, score in fused] == sorted((s for _, s in fused), reverse=True)


@given(RANKINGS, st.randoms(use_true_random=False))
def test_rrf_does_not_depend_on_the_order_of_the_lists(rankings, random):
    """D1: sums are exact, so the lists may come in any order, to the bit."""
    shuffled = list(rankings)
    random.shuffle(shuffled)
    assert rrf(shuffled) == rrf(rankings)


@given(RANKINGS)
def test_rrf_counts_a_repeated_key_once(rankings):
    """T4: a key twice in one list has the weight of its best place alone."""
    assert rrf([ranking + ranking for ranking in rankings]) == rrf(rankings)


def test_rrf_breaks_ties_by_the_key():
    """D1: equal scores are ordered by the content key, not by who came first."""
    assert [key for key, _ in rrf([["b"], ["a"]])] == ["a", "b"]
    assert [key for key, _ in rrf([[("s", 2), ("s", 1)], [("s", 1), ("s", 2)]])] == [
        ("s", 1),
        ("s", 2),
    ]
