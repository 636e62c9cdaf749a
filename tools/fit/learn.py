"""From traits and gold to weights: what a budget holds of the evidence, climbed from equal weights.

Weights of one size, each with the sign that its trait has by its meaning, are hard to beat where
data are few (Dawes, "The robust beauty of improper linear models in decision making", 1979). So the
climb starts from them, and what moves away from them is held back (`HELD`), on traits scaled to one
standard deviation. Every set counts the same, and every question within its set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from tools.fit.soft import MARK, Places, Pools, owners
from tools.fit.units import NAMES, Numbers, Units

BUDGETS = (500, 1000, 2000, 4000)
STEPS = 45
"""More fits the sets at hand better, and sets that were left out a little worse."""
RATE, LAST_RATE = 0.05, 0.01
HELD = 0.02
PRIOR = 0.8
"""The size of the equal weights, in log-odds a standard deviation."""
AGAINST = frozenset({"place", "bulk"})
"""Traits that speak against a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Rows of the questions that are learnt from, traits divided by `scale`.

    `owner`: the question of each row. `weight`: of each question; they add up to 1.
    """

    traits: Numbers
    sizes: Numbers
    gold: Numbers
    starts: Places
    owner: Places
    weight: Numbers
    scale: Numbers


def fit(units: Units, steps: int = STEPS) -> dict[str, float]:
    """The weights that find the most evidence within the budgets, not rounded."""
    setup = setup_of(units)
    scaled = within_budgets(setup, equal_weights(), steps)
    return dict(zip(NAMES, (scaled / setup.scale).tolist(), strict=True))


def rounded(weights: Mapping[str, float]) -> dict[str, float]:
    """To halves, and to tenths below one: as `WEIGHTS` are written.

    >>> rounded({"lead": 6.2, "place": -0.68})
    {'lead': 6.0, 'place': -0.7}
    """
    return {
        name: round(value * 2) / 2 if abs(value) >= 1 else round(value, 1) + 0.0
        for name, value in weights.items()
    }


def setup_of(units: Units) -> Setup:
    """Questions whose evidence is there at all; it adds up to 1 for each of them."""
    found = np.add.reduceat(units.gold, units.first[:-1])
    some = units.of(found > 0)
    starts = some.first[:-1]
    owner = owners(starts, len(some.gold))
    _, places, sizes = np.unique(some.sets, return_inverse=True, return_counts=True)
    scale = np.maximum(some.traits.std(axis=0), 1e-9)
    return Setup(
        traits=some.traits / scale,
        sizes=some.costs,
        gold=some.gold / found[found > 0][owner],
        starts=starts,
        owner=owner,
        weight=1 / (sizes[places] * len(sizes)),
        scale=scale,
    )


def equal_weights() -> Numbers:
    """By trait, the weight that is expected before any data are seen."""
    signs = [-1 if name in AGAINST else 1 for name in NAMES]
    return PRIOR * np.array(signs, dtype=np.float64)


def within_budgets(setup: Setup, weights: Numbers, steps: int) -> Numbers:
    """Climb from these weights to where the budgets hold the most (Adam, Kingma and Ba 2015)."""
    pools = [pool for budget in BUDGETS if (pool := over(setup, budget))]
    found = weights.copy()
    mean, square = np.zeros_like(found), np.zeros_like(found)
    for n in range(1, steps + 1):
        _, slope = objective(pools, found)
        slope -= HELD * (found - weights)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.98 * square + 0.02 * slope * slope
        rate = RATE + (LAST_RATE - RATE) * n / steps
        found += rate * (mean / (1 - 0.9**n)) / (np.sqrt(square / (1 - 0.98**n)) + 1e-5)
    return found


def objective(pools: list[Pools], weights: Numbers) -> tuple[float, Numbers]:
    """What the budgets hold of the evidence, and its slope; what fits whole is not in it."""
    held = [pool.held(weights) for pool in pools]
    value = sum(value for value, _ in held) / len(BUDGETS)
    slope: Numbers = np.sum([slope for _, slope in held] or [weights * 0], axis=0) / len(BUDGETS)
    return value, slope


def over(setup: Setup, budget: int) -> Pools | None:
    """The questions that have more than the budget; None where there are none."""
    some = np.add.reduceat(setup.sizes + MARK, setup.starts) > budget * 1.02
    if not some.any():
        return None
    rows = some[setup.owner]
    lengths = np.bincount(setup.owner)[some]
    return Pools(
        traits=setup.traits[rows],
        sizes=setup.sizes[rows],
        gold=(setup.gold * setup.weight[setup.owner])[rows],
        starts=np.cumsum(lengths) - lengths,
        budget=budget,
        bar=np.zeros(len(lengths)),
    )
