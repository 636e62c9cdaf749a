"""Paired bootstrap intervals of means over questions.

Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13 (percentile intervals).
Questions are drawn with replacement within each set, with the same draws for every recipe and
budget. The seed includes the set's name, so other sets do not change its draws. One question says
nothing about others: its draws are no numbers, and its interval has no bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from foveate.core.manifest import digest

RESAMPLES = 10_000
SEED = 1
LEVEL = 95
"""Per cent of the resampled values that an interval holds."""

_MAX_VALUES_AT_ONCE = 4_000_000
"""Numbers in memory at a time; a set of ten thousand questions is drawn in slices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A figure and the range that holds 95 % of its resampled values."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """`better` or `worse` if the range excludes 0, else empty."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else ""


def resampled_means(values: Any, name: str, *, resamples: int = RESAMPLES, seed: int = SEED) -> Any:
    """The means of each column of `values` (questions x columns), one row a draw.

    >>> import numpy as np
    >>> resampled_means(np.array([[1.0, 0.5], [1.0, 0.5]]), "a set", resamples=3).tolist()
    [[1.0, 0.5], [1.0, 0.5], [1.0, 0.5]]
    """
    count, columns = values.shape
    if count == 1:
        return np.full((resamples, columns), np.nan)
    rng = np.random.default_rng(int(digest(f"{seed} {name}")[:16], 16))
    means = np.empty((resamples, columns))
    step = max(1, _MAX_VALUES_AT_ONCE // count)
    for start in range(0, resamples, step):
        draws = min(step, resamples - start)
        picked = rng.integers(count, size=(draws, count), dtype=np.int64)
        picked += np.arange(draws)[:, None] * count
        times = np.bincount(picked.ravel(), minlength=draws * count).reshape(draws, count)
        means[start : start + draws] = times @ values / count
    return means


def interval(value: float, draws: Any) -> Interval:
    """The percentile interval of the draws around the value; unbounded if some are no numbers."""
    if not draws.size or np.isnan(draws).any():
        return Interval(value=float(value), low=-np.inf, high=np.inf)
    tail = (100 - LEVEL) / 2
    # rounded, for floating-point errors must not make a 0 significant
    low, high = np.percentile(draws, [tail, 100 - tail]).round(12) + 0.0
    return Interval(value=float(value), low=float(low), high=float(high))
