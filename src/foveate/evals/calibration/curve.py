"""Turns counts of right answers by place into a curve, with intervals and a test of flatness.

Intervals: Wilson, "Probable inference", JASA 22, 1927, 95 %. Flatness: a permutation test of the
spread between the best and the worst place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Any

from foveate.pipeline.curves import CURVE_KIND, resample_evenly

_Z = 1.959964
_PERMUTATIONS = 2000
SIGNIFICANCE_LEVEL = 0.05
"""From this p-value on, places cannot be told apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One place: its relative position from 0 to 1, right answers of how many asked."""

    position: float
    right: int
    asked: int

    @property
    def accuracy(self) -> float:
        """The share that was right, in per cent."""
        return 100 * self.right / self.asked if self.asked else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, in per cent."""
        return wilson_interval(self.right, self.asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Points from first place to last, and the p-value of their spread."""

    points: tuple[Point, ...]
    p: float

    @property
    def is_flat(self) -> bool:
        """Whether chance explains the differences between places."""
        return self.p >= SIGNIFICANCE_LEVEL

    @property
    def heights(self) -> tuple[float, ...]:
        """The accuracies for `Order(by="attention")`; all equal if the curve is flat."""
        if self.is_flat:
            asked = sum(point.asked for point in self.points)
            right = sum(point.right for point in self.points)
            mean = round(100 * right / asked, 4) if asked else 0.0
            return (mean,) * len(self.points)
        return resample_evenly([p.position for p in self.points], [p.accuracy for p in self.points])


def wilson_interval(right: int, asked: int) -> tuple[float, float]:
    """The 95 % interval of a share, in per cent.

    >>> wilson_interval(9, 10)[0] > 59 and wilson_interval(9, 10)[1] < 99
    True
    """
    if not asked:
        return 0.0, 100.0
    share = right / asked
    middle = share + _Z**2 / (2 * asked)
    reach = _Z * sqrt(share * (1 - share) / asked + _Z**2 / (4 * asked**2))
    whole = 1 + _Z**2 / asked
    low, high = (round(100 * value / whole, 9) for value in (middle - reach, middle + reach))
    return max(0.0, low), min(100.0, high)


def fit_curve(
    outcomes: Sequence[Sequence[bool]], seed: int = 1, positions: Sequence[float] = ()
) -> Curve:
    """The curve of outcomes by place; `positions` from 0 to 1, rising: evenly spaced without."""
    last = max(1, len(outcomes) - 1)
    points = tuple(
        Point(position=position, right=sum(place), asked=len(place))
        for position, place in zip(
            positions or [n / last for n in range(len(outcomes))], outcomes, strict=True
        )
    )
    return Curve(
        points=points, p=_permutation_p_value([len(place) for place in outcomes], points, seed)
    )


def _permutation_p_value(sizes: Sequence[int], points: Sequence[Point], seed: int) -> float:
    """How often a random assignment to places gives as large a spread."""
    pool = [n < sum(p.right for p in points) for n in range(sum(sizes))]
    spread = _spread([point.accuracy for point in points])
    if spread <= 0:
        return 1.0
    random, hits = Random(seed), 0  # noqa: S311
    for _ in range(_PERMUTATIONS):
        random.shuffle(pool)
        shares, at = [], 0
        for size in sizes:
            shares.append(100 * sum(pool[at : at + size]) / size if size else 0.0)
            at += size
        hits += _spread(shares) >= spread - 1e-9
    return (hits + 1) / (_PERMUTATIONS + 1)


def _spread(shares: Sequence[float]) -> float:
    return max(shares, default=0.0) - min(shares, default=0.0)


def curve_to_json(
    curve: Curve, *, model: str, kinds: Sequence[str], things: int
) -> Mapping[str, Any]:
    """The file that `--order attention:FILE` reads."""
    return {
        "kind": CURVE_KIND,
        "model": model,
        "probes": list(kinds),
        "things": things,
        "curve": list(curve.heights),
        "flat": curve.is_flat,
        "p": curve.p,
        "points": [
            {
                "position": point.position,
                "right": point.right,
                "asked": point.asked,
                "accuracy": point.accuracy,
                "interval": list(point.interval),
            }
            for point in curve.points
        ],
    }
