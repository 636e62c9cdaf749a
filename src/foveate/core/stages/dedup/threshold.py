"""A threshold that is compared without rounding: 0.9 is nine tenths, not the float beside it."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache


class Threshold:
    """A share above 0, up to 1. `strict`: reaching it is not enough, it must be passed.

    >>> Threshold(0.9).is_reached(9, 10), Threshold(0.9, strict=True).is_reached(9, 10)
    (True, False)
    """

    def __init__(self, value: float, *, strict: bool = False) -> None:
        self.value = value
        self.strict = strict
        self._part, self._whole = _ratio(value)

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


@lru_cache(maxsize=64)
def _ratio(value: float) -> tuple[int, int]:
    """The share as it is written, not as a float holds it."""
    return Fraction(str(value)).as_integer_ratio()
