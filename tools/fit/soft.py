"""What of the evidence a budget holds, made smooth, so that it has a slope to climb.

`pack` takes sentences by worth per token until the budget is spent. Here each is taken to a part,
sigmoid((score - bar) / SOFT), where the score is log(worth per token) and the bar is such that the
parts cost the budget. As SOFT goes to 0 that is a greedy filling. What it leaves out: that
sentences lean on others, that a block has a head, that a repeat is passed over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tools.fit.units import Numbers

SOFT = 0.6
"""In logarithms of worth: a sentence that is twice as good as the bar is in to 3/4."""
CLOSE = 1e-4
"""Of the budget; the bar is right when the parts cost the budget to that share."""
ROUNDS = 60
"""In the first half Newton's steps are taken where they stay in between; in the second half all
steps halve: along the tail of a sigmoid Newton goes no further than SOFT a step."""
MARK = 3
"""Tokens that a sentence costs beyond its own: `pack` counts as many for a mark between two."""

Places = npt.NDArray[np.int64]


@dataclass(slots=True, kw_only=True)
class Pools:
    """Sentences, one a row, of questions that all have more than the budget.

    `starts`: the first row of each question. `sizes`: the tokens of the sentence itself, by which
    worth is divided. `gold`: what taking it is worth. `bar`: of each question, as last found.
    """

    traits: Numbers
    sizes: Numbers
    gold: Numbers
    starts: Places
    budget: float
    bar: Numbers

    def held(self, weights: Numbers) -> tuple[float, Numbers]:
        """The gold that is taken, over all questions, and its slope in the weights.

        The bar moves with the weights so that the cost stays the same: with d = part (1 - part) /
        SOFT, its own slope is sum(cost d trait) / sum(cost d).
        """
        score = self.traits @ weights - np.log(self.sizes)
        costs = self.sizes + MARK
        owner = owners(self.starts, len(score))
        self.bar = bars(score, costs, self.starts, budget=self.budget, guess=self.bar)
        part = parts(score, self.bar[owner])
        steep = part * (1 - part) / SOFT
        price = np.add.reduceat(self.gold * steep, self.starts)
        price /= np.maximum(np.add.reduceat(costs * steep, self.starts), 1e-12)
        slope = (steep * (self.gold - costs * price[owner])) @ self.traits
        return float(self.gold @ part), slope


def bars(
    score: Numbers, costs: Numbers, starts: Places, *, budget: float, guess: Numbers
) -> Numbers:
    """The bar of each question: that at which the parts of its sentences cost the budget.

    All questions cost more than the budget. `guess`: where to begin, as near as is known.
    """
    owner = owners(starts, len(score))
    low = np.minimum.reduceat(score, starts) - 40 * SOFT
    high = np.maximum.reduceat(score, starts) + 40 * SOFT
    bar = np.clip(guess, low, high)
    for turn in range(ROUNDS):
        part = parts(score, bar[owner])
        over = np.add.reduceat(costs * part, starts) - budget
        if np.abs(over).max() <= CLOSE * budget:
            break
        low, high = np.where(over > 0, bar, low), np.where(over > 0, high, bar)
        slope = np.add.reduceat(costs * part * (1 - part), starts) / SOFT
        step = bar + over / np.maximum(slope, 1e-12)
        inside = (step > low) & (step < high) & (turn < ROUNDS // 2)
        bar = np.where(inside, step, (low + high) / 2)
    return bar


def parts(score: Numbers, bar: Numbers) -> Numbers:
    """To what part each sentence is taken."""
    taken: Numbers = 1 / (1 + np.exp(np.clip((bar - score) / SOFT, -40, 40)))
    return taken


def owners(starts: Places, rows: int) -> Places:
    """The question of each row."""
    found: Places = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, rows)))
    return found
