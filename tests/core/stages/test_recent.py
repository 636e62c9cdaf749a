"""PreferRecent: a rise that fades with age, on any scale of scores, without a clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveate.core.errors import BadOption
from foveate.core.stages.recent import PreferRecent, raise_score
from foveate.testing.fakes import candidate, request

NOW = datetime(2024, 6, 1, tzinfo=UTC)
scores = st.floats(-1e300, 1e300, allow_nan=False)
ages = st.one_of(st.none(), st.floats(0, 1e5, allow_nan=False))


def aged(days, score=0.5, **fields):
    """A candidate modified so many days ago."""
    return candidate(score=score, id=f"{days}", modified_at=NOW - timedelta(days=days), **fields)


def scored(stage, *candidates, **asked):
    """The scores that come out, by id."""
    return {c.id: c.score for c in stage(candidates, request(**asked)).candidates}


def test_the_rise_halves_with_each_half_life():
    """S2: full weight for the newest, half of it after one half-life, a quarter after two."""
    stage = PreferRecent(half_life_days=10, weight=0.4)

    assert scored(stage, aged(0, 1.0), aged(10, 1.0), aged(20, 1.0)) == {
        "0": 1.4,
        "10": 1.2,
        "20": 1.1,
    }


def test_each_change_is_told_with_both_scores():
    """S2: one decision for each, with the old score, the new one and the age."""
    step = PreferRecent(half_life_days=10, weight=0.4)((aged(10, 1.0),), request(instant=NOW))

    assert [(d.action, d.reason, d.numbers) for d in step.decisions] == [
        ("changed", "recent", {"old": 1.0, "new": 1.2, "age_days": 10.0})
    ]


def test_age_counts_from_the_newest_or_from_the_instant():
    """S2: never from the clock: the newest candidate is age 0, or the given instant is."""
    stage = PreferRecent(half_life_days=10, weight=0.4)

    assert scored(stage, aged(10, 1.0)) == {"10": 1.4}
    assert scored(stage, aged(10, 1.0), instant=NOW) == {"10": 1.2}
    assert scored(stage, aged(10, 1.0), instant=NOW.replace(tzinfo=None)) == {"10": 1.2}
    assert scored(stage, aged(-5, 1.0), instant=NOW) == {"-5": 1.4}


def test_without_a_date_nothing_rises():
    """S2: an undated text stands as if infinitely old, and takes no decision."""
    undated = candidate(score=0.5, id="undated")
    step = PreferRecent()((undated, aged(0)), request())

    assert step.candidates[0] is undated
    assert [d.chunk_id for d in step.decisions] == ["0"]
    assert PreferRecent()((undated,), request(instant=NOW)).candidates == (undated,)


def test_side_knowledge_keeps_its_score():
    """S2: a supplement neither rises nor sets the date."""
    aside = aged(0, origin="supplement")

    assert scored(PreferRecent(), aside, aged(90, 1.0)) == {"0": 0.5, "90": 1.3}


@given(scores, ages, st.floats(0, 1), st.floats(0.1, 1e4))
def test_a_score_never_falls_and_never_rises_past_its_weight(score, age, weight, half_life):
    """S2: score <= score' <= score + weight x |score|, and always finite."""
    after = raise_score(score, age, half_life, weight)

    assert score <= after <= score + abs(score) * weight


@given(scores, scores, ages, st.floats(0, 1))
def test_texts_of_one_age_never_change_places(one, other, age, weight):
    """S2: the rise is monotone in the score."""
    low, high = sorted((one, other))

    assert raise_score(low, age, 30.0, weight) <= raise_score(high, age, 30.0, weight)


@given(scores, st.floats(0, 1e4), st.floats(0, 1e4))
def test_the_newer_of_two_equals_never_comes_out_lower(score, one, other):
    """S2: the rise is monotone in the age."""
    new, old = sorted((one, other))

    assert raise_score(score, new, 30.0, 0.3) >= raise_score(score, old, 30.0, 0.3)


def test_the_largest_score_stays_finite():
    """X2: a rise over the largest number there is stops at it."""
    assert raise_score(1.7e308, 0.0, 30.0, 1.0) < float("inf")


@pytest.mark.parametrize(
    "options",
    [{"half_life_days": v} for v in (0, -1, float("nan"), float("inf"))]
    + [{"weight": v} for v in (-0.1, 1.1, float("nan"))],
)
def test_impossible_options_are_refused(options):
    """X1: the error names the option and the value."""
    (name,) = options
    with pytest.raises(BadOption, match=f"prefer_recent: {name} is"):
        PreferRecent(**options)
