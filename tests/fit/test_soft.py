"""The smooth budget: it costs what it may, its slope is its slope, and it ends as the greedy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tools.fit import soft
from tools.fit.soft import MARK, Pools, bars, parts

STARTS = np.array([0, 7, 19])
ROWS = 40


def pools(seed: int, budget: float = 90.0) -> tuple[Pools, np.ndarray]:
    """Three questions of a few sentences, with five traits, and weights."""
    rng = np.random.default_rng(seed)
    found = Pools(
        traits=rng.normal(size=(ROWS, 5)),
        sizes=rng.integers(15, 60, ROWS).astype(float),
        gold=rng.random(ROWS) * (rng.random(ROWS) < 0.3),
        starts=STARTS,
        budget=budget,
        bar=np.zeros(3),
    )
    return found, rng.normal(size=5)


def halved(score: np.ndarray, costs: np.ndarray, budget: float) -> float:
    """The bar of one question by two hundred halvings."""
    low, high = score.min() - 100, score.max() + 100
    for _ in range(200):
        middle = (low + high) / 2
        spent = sum(
            c / (1 + np.exp((middle - s) / soft.SOFT)) for s, c in zip(score, costs, strict=True)
        )
        low, high = (middle, high) if spent > budget else (low, middle)
    return low


@given(seed=st.integers(0, 10_000), guess=st.floats(-1e3, 1e3), wide=st.floats(0.1, 20))
@example(seed=78, guess=0.0, wide=16.1796875)  # Newton's steps creep along a tail
def test_the_bar_is_where_the_budget_is_spent(seed: int, guess: float, wide: float) -> None:
    """S8: from any guess, the bar of each question is the one that halving finds."""
    rng = np.random.default_rng(seed)
    score, costs = rng.normal(size=ROWS) * wide, rng.integers(20, 60, ROWS).astype(float)
    found = bars(score, costs, STARTS, budget=100.0, guess=np.full(3, guess))
    spent = np.add.reduceat(costs * parts(score, np.repeat(found, [7, 12, 21])), STARTS)
    by_halving = [
        halved(s, c, 100.0)
        for s, c in zip(np.split(score, STARTS[1:]), np.split(costs, STARTS[1:]), strict=True)
    ]

    assert spent == pytest.approx([100.0] * 3, rel=1e-3)
    if wide < 2:  # further apart, many bars cost the same
        assert found == pytest.approx(by_halving, abs=0.02)


@given(seed=st.integers(0, 10_000))
def test_the_slope_is_that_of_finite_differences(seed: int) -> None:
    """S8: the slope has the bar's own movement in it."""
    found, weights = pools(seed)
    step, by_steps = 1e-4, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soft, "CLOSE", 1e-13)
        _, slope = found.held(weights)
        for direction in np.eye(5) * step:
            more, less = found.held(weights + direction)[0], found.held(weights - direction)[0]
            by_steps.append((more - less) / (2 * step))

    assert slope == pytest.approx(by_steps, abs=1e-4)


def test_without_softness_it_is_the_greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """S8: as it hardens, the best per token are in, up to the budget, and all others out."""
    found, weights = pools(5)
    score = found.traits @ weights - np.log(found.sizes)
    expected = 0.0
    for rows in np.split(np.arange(ROWS), STARTS[1:]):
        room = found.budget
        for row in sorted(rows, key=lambda r: -score[r]):
            taken = min(room, found.sizes[row] + MARK)
            expected += found.gold[row] * taken / (found.sizes[row] + MARK)
            room -= taken
    monkeypatch.setattr(soft, "SOFT", 1e-4)
    value, _ = found.held(weights)

    assert value == pytest.approx(expected, abs=0.01)
