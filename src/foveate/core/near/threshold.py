"""A threshold that is compared without rounding: 0.9 is nine tenths, not the float beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Threshold:
    """A share above 0, up to 1. `strict`: reaching it is not enough, it must be passed.

    >>> Threshold(0.9).reached(9, 10), Threshold(0.9, strict=True).reached(9, 10)
    (True, False)
    """

    value: float
    strict: bool = False

    @property
    def share(self) -> Fraction:
        """The number as it was written."""
        return Fraction(str(self.value))

    def reached(self, part: int, whole: int) -> bool:
        """Whether `part` is this share of `whole`."""
        share = self.share
        have, need = part * share.denominator, whole * share.numerator
        return have > need if self.strict else have >= need

    def reached_by_root(self, part: int, square: int) -> bool:
        """Whether `part` is this share of the square root of `square`."""
        share = self.share
        have, need = part**2 * share.denominator**2, square * share.numerator**2
        return part > 0 and (have > need if self.strict else have >= need)

    def least(self, whole: int) -> int:
        """The smallest count that is this share of `whole`."""
        share = self.share
        need = whole * share.numerator
        return need // share.denominator + 1 if self.strict else -(-need // share.denominator)
