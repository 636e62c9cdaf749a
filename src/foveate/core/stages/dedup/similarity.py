"""The three measures of similarity, each in whole numbers: a share that reaches a threshold or not.

jaccard      shared words over all words of the two
containment  shared word triples over those of the text that leaves
semantic     cosine of the embeddings; half of all words must be shared too
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from foveate.core.errors import BadInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from foveate.core.types import Vector

LARGEST = 1 << 15
"""The largest number of a vector in whole numbers; a cosine moves by less than 0.001."""


class Threshold:
    """A share above 0, up to 1. `strict`: reaching it is not enough, it must be passed.

    >>> Threshold(0.9).is_reached(9, 10), Threshold(0.9, strict=True).is_reached(9, 10)
    (True, False)
    """

    def __init__(self, value: float, *, strict: bool = False) -> None:
        self.strict = strict
        self._part, self._whole = Fraction(str(value)).as_integer_ratio()

    def is_reached(self, part: int, whole: int) -> bool:
        """Whether `part` is this share of `whole`."""
        have, need = part * self._whole, whole * self._part
        return have > need if self.strict else have >= need

    def is_reached_by_root(self, part: int, square: int) -> bool:
        """Whether `part` is this share of the square root of `square`."""
        have, need = (part * self._whole) ** 2, square * self._part**2
        return part > 0 and (have > need if self.strict else have >= need)

    def least(self, whole: int) -> int:
        """The smallest count that is this share of `whole`."""
        need = whole * self._part
        return need // self._whole + 1 if self.strict else -(-need // self._whole)


def jaccard(mine: AbstractSet[Any], theirs: AbstractSet[Any], threshold: Threshold) -> float:
    """The share of all words that both have; 0 if it does not reach the threshold."""
    shared = len(mine & theirs)
    union = len(mine) + len(theirs) - shared
    return shared / union if shared and threshold.is_reached(shared, union) else 0.0


def containment(mine: AbstractSet[Any], theirs: AbstractSet[Any], threshold: Threshold) -> float:
    """The share of `mine` that the other has; 0 if it does not reach the threshold."""
    shared = len(mine & theirs)
    return shared / len(mine) if shared and threshold.is_reached(shared, len(mine)) else 0.0


def cosine(mine: Vector | None, theirs: Vector | None, threshold: Threshold) -> float:
    """The cosine; 0 if it does not reach the threshold or a vector is missing or zero.

    Raises `BadInput` for vectors of different lengths, and for numbers that are not finite.
    """
    if mine is None or theirs is None:
        return 0.0
    if len(mine) != len(theirs):
        lengths = sorted((len(mine), len(theirs)))
        raise BadInput(f"vectors of different lengths: {lengths}", field="embedding")
    one, other = whole_numbers(mine), whole_numbers(theirs)
    product, square = int(one @ other), int(one @ one) * int(other @ other)
    return product / sqrt(square) if threshold.is_reached_by_root(product, square) else 0.0


def whole_numbers(vector: Vector) -> NDArray[np.int64]:
    """The vector in whole numbers, whose products are exact in any order; raises `BadInput`."""
    given = np.asarray(vector, dtype=np.float64)
    largest = np.abs(given).max(initial=0.0)
    if not np.isfinite(largest):
        raise BadInput("the vector holds a value that is not finite", field="embedding")
    found: NDArray[np.int64] = np.rint(given / (largest or 1.0) * LARGEST).astype(np.int64)
    return found
