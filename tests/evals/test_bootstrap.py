"""The paired bootstrap: seeded, paired, and honest about what it cannot know."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.evals import bootstrap
from foveate.evals.bootstrap import Interval, interval, resampled_means

VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=30)


def test_draws_have_the_distribution_of_all_resamples():
    """E1: over three questions, each mean comes as often as among all 27 equally likely draws."""
    values = np.array([[0.0], [0.3], [1.0]])
    drawn = resampled_means(values, "a set", resamples=40_000)[:, 0]
    every = [float(np.mean(pick)) for pick in itertools.product([0.0, 0.3, 1.0], repeat=3)]

    for mean in sorted({round(m, 9) for m in every}):
        share = sum(abs(m - mean) < 1e-9 for m in every) / len(every)
        assert np.mean(np.abs(drawn - mean) < 1e-9) == pytest.approx(share, abs=0.01)


@given(VALUES, st.floats(-1, 1))
def test_a_constant_lead_has_no_noise(values, lead):
    """E1: pairs cancel what is hard for both: the same lead on every question is that lead."""
    column = np.array(values)
    pairs = np.stack([column, column + lead], axis=1)
    drawn = resampled_means(pairs, "a set", resamples=50)

    assert drawn[:, 1] - drawn[:, 0] == pytest.approx(np.full(50, lead))


def test_draws_depend_on_the_seed_and_the_name_alone():
    """E1, D1: the same name and seed give the same draws, another of either gives others."""
    values = np.linspace(0, 1, 20)[:, None]
    first = resampled_means(values, "a", resamples=30)

    assert np.array_equal(first, resampled_means(values, "a", resamples=30))
    assert not np.array_equal(first, resampled_means(values, "b", resamples=30))
    assert not np.array_equal(first, resampled_means(values, "a", resamples=30, seed=2))


def test_slices_change_nothing(monkeypatch):
    """E1, D1: a set that is drawn in slices, for memory, gives the very same draws."""
    values = np.linspace(0, 1, 7)[:, None]
    whole = resampled_means(values, "a", resamples=101)
    monkeypatch.setattr(bootstrap, "_MAX_VALUES_AT_ONCE", 29)

    assert np.array_equal(whole, resampled_means(values, "a", resamples=101))


def test_the_interval_holds_95_of_100_draws():
    """E1: percentiles of the draws; a verdict only where 0 is left out."""
    found = interval(0.5, np.linspace(0, 1, 1_001))

    assert (found.low, found.high) == pytest.approx((0.025, 0.975))
    assert found.verdict == "better"
    assert Interval(value=-0.2, low=-0.3, high=-0.1).verdict == "worse"
    assert Interval(value=-0.2, low=-0.5, high=0.0).verdict == ""


def test_dust_of_sums_is_no_verdict():
    """E1: what floating-point sums leave over of 0 is 0."""
    assert interval(0.0, np.full(10, -1e-16)) == Interval(value=0.0, low=0.0, high=0.0)


def test_one_question_says_nothing_about_others():
    """E1: a lead on one question is no verdict, neither alone nor in a mean over sets."""
    one = resampled_means(np.array([[0.0]]), "one", resamples=50)
    many = resampled_means(np.full((9, 1), -1.0), "many", resamples=50)

    assert interval(-1.0, many).verdict == "worse"
    assert interval(-1.0, one).verdict == ""
    assert interval(-1.0, (one + many) / 2).verdict == ""


def test_the_truth_is_inside_about_as_often_as_promised():
    """E1: over 200 samples with a known mean the interval misses it in few."""
    rng = np.random.default_rng(5)
    inside = 0
    for i in range(200):
        sample = rng.beta(2, 1, size=(60, 1))
        found = interval(sample.mean(), resampled_means(sample, str(i), resamples=400))
        inside += found.low <= 2 / 3 <= found.high

    assert 180 <= inside <= 198
