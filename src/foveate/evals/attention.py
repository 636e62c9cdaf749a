"""How well models read each part of a long context: published curves, as data.

Liu et al. 2023, "Lost in the Middle", arXiv:2307.03172v3, tables 5 to 7: accuracy by the relative
position of the passage with the answer among 10, 20 or 30 passages.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from math import sqrt

Curve = tuple[tuple[float, ...], tuple[float, ...]]
"""Relative positions (0 to 1, rising) and the accuracy at each."""

_TWENTY = (0, 4 / 19, 9 / 19, 14 / 19, 1)
CURVES: Mapping[str, Curve] = {
    "gpt35_20": (_TWENTY, (75.8, 57.2, 53.8, 55.4, 63.2)),
    "gpt35_10": ((0, 4 / 9, 1), (76.8, 61.2, 62.4)),
    "gpt35_16k_30": (
        (0, 4 / 29, 9 / 29, 14 / 29, 19 / 29, 24 / 29, 1),
        (73.4, 55.1, 50.5, 50.9, 51.8, 54.9, 63.7),
    ),
    "claude13_20": (_TWENTY, (59.9, 55.9, 56.8, 57.2, 60.1)),
    "longchat13b_20": (_TWENTY, (68.6, 57.4, 55.3, 52.5, 55.0)),
    "mpt30b_20": (_TWENTY, (53.7, 51.8, 52.2, 52.7, 56.2)),
    "llama2_70b_20": (_TWENTY, (56.8, 53.3, 54.1, 59.7, 69.5)),
    "flat": ((0, 1), (1, 1)),
}
DEFAULT = "gpt35_20"

FULL_LENGTH = 2_650
"""Tokens (cl100k_base) of the twenty passages with which the curves were measured, on average."""


def weight(position: float, tokens: int, curve: str = DEFAULT) -> float:
    """How much a text at this relative position counts, at most 1, in a context of `tokens`.

    Straight lines between the measured points, divided by the curve's best. A short context dips
    less: the square root of its share of `FULL_LENGTH`, which reproduces the dip that the paper
    found with ten passages.

    >>> weight(0.0, 2650), round(weight(0.5, 2650), 3), round(weight(0.5, 100), 3)
    (1.0, 0.712, 0.944)
    """
    places, accuracy = CURVES[curve]
    at = min(max(position, 0), 1)
    i = max(1, min(bisect_left(places, at), len(places) - 1))
    share = (at - places[i - 1]) / (places[i] - places[i - 1])
    read = (accuracy[i - 1] + (accuracy[i] - accuracy[i - 1]) * share) / max(accuracy)
    return 1 - (1 - read) * min(1.0, sqrt(tokens / FULL_LENGTH))
