"""How much a text counts by where it stands in a context, by a published reading curve."""

from __future__ import annotations

from math import sqrt

from foveate.pipeline.curves import interpolate, load_published_curves

DEFAULT_CURVE = "gpt35_20"

CURVE_CONTEXT_TOKENS = 2_650
"""Tokens (cl100k_base) of the twenty passages with which the curves were measured, on average."""


def attention_weight(position: float, tokens: int, curve: str = DEFAULT_CURVE) -> float:
    """How much a text at this relative position counts, at most 1, in a context of `tokens`.

    Straight lines between the measured points, divided by the curve's best. A short context dips
    less: the square root of its share of `CURVE_CONTEXT_TOKENS`, which reproduces the dip that the
    paper found with ten passages.

    >>> (
    ...     attention_weight(0.0, 2650),
    ...     round(attention_weight(0.5, 2650), 3),
    ...     round(attention_weight(0.5, 100), 3),
    ... )
    (1.0, 0.712, 0.944)
    """
    known = load_published_curves()[curve]
    at = min(max(position, 0), 1)
    read = interpolate(at, known.positions, known.accuracy) / max(known.accuracy)
    return 1 - (1 - read) * min(1.0, sqrt(tokens / CURVE_CONTEXT_TOKENS))
