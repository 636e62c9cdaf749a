"""The definition of near duplicates: which texts stay, given which may leave for which.

Texts are in order of preference. A text *may leave for* another if they are similar, the other says
all of weight that it says, and the other is not a fragment of it: a text all of whose words, as
often, are in it, which has more. Two passes:

1. *By preference.* From first to last, a text leaves if it may leave for an earlier kept text.
2. *By fullness.* From last to first, a kept text leaves if it may leave for a later kept one, the
   fullest such.

Resolving the kept texts again changes nothing. If each of two copies says something of weight that
the other lacks, both stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol, TypeAlias

from foveate.core.types import Candidate


@dataclass(frozen=True, slots=True)
class Match:
    """A text to leave for, by its place, and how similar it is (for the record only)."""

    other: int
    similarity: float


Resolution: TypeAlias = tuple[Sequence[Candidate], dict[int, Match], int]
"""Texts in order of preference; who leaves for whom, by place; pairs compared in full."""


class Finder(Protocol):
    """A method of finding near duplicates; it gets every text in order of preference."""

    def find_earlier(self, i: int) -> Match | None:
        """The earlier kept text that text i leaves for."""

    def keep(self, i: int) -> None:
        """Text i is kept."""

    def find_later(self, i: int, left: dict[int, Match]) -> Match | None:
        """The later kept text, none of `left`, that text i leaves for; asked from last to first."""


def resolve_duplicates(texts: Iterable[int], finder: Finder) -> dict[int, Match]:
    """Who leaves, and for whom; `texts` are places in order of preference."""
    left: dict[int, Match] = {}
    kept: list[int] = []
    for i in texts:
        match = finder.find_earlier(i)
        if match is None:
            finder.keep(i)
            kept.append(i)
        else:
            left[i] = match
    for i in reversed(kept):
        match = finder.find_later(i, left)
        if match is not None:
            left[i] = match
    return left


def final(i: int, left: dict[int, Match]) -> int:
    """The text that stays, at the end of the way on which text i left."""
    while i in left:
        i = left[i].other
    return i


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
    return Fraction(str(value)).as_integer_ratio()
