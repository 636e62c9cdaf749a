"""From matches to who stays: the definition that every near-duplicate method serves.

Texts stand in their order of preference, the preferred first. A text *may leave for* another if
they are similar, the other says all of weight that it says (`guard.py`, `aligned.py`), and the
other is not a fragment of it. Two passes:

1. *By preference.* From first to last, a text leaves if it may leave for an earlier text kept so
   far; otherwise it is kept.
2. *By fullness.* From last to first, a kept text leaves if it may leave for a later one that still
   stays. It leaves for the fullest such text.

A text is a fragment of another when all its words, as often as it has them, are in the other,
which has more. So nothing of weight is lost, a fragment never evicts its container however well it
scores, and of what is kept in the end nothing may leave for anything: settling it again changes
nothing. Where of two copies each says something of weight that the other lacks, both stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Match:
    """A text to leave for, by its place, and how similar it is (for the record only)."""

    other: int
    similarity: float


class Finder(Protocol):
    """One method of telling near duplicates, told of every text in order of preference."""

    @property
    def compared(self) -> int:
        """How many pairs were compared in full."""

    def earlier(self, i: int) -> Match | None:
        """The earlier kept text that text i leaves for."""

    def keep(self, i: int) -> None:
        """Text i is kept."""

    def later(self, i: int, left: dict[int, Match]) -> Match | None:
        """The later kept text, none of `left`, that text i leaves for; asked from last to first."""


def resolve_duplicates(texts: Iterable[int], finder: Finder) -> dict[int, Match]:
    """Who leaves, and for whom; `texts` are places in order of preference."""
    left: dict[int, Match] = {}
    kept: list[int] = []
    for i in texts:
        match = finder.earlier(i)
        if match is None:
            finder.keep(i)
            kept.append(i)
        else:
            left[i] = match
    for i in reversed(kept):
        match = finder.later(i, left)
        if match is not None:
            left[i] = match
    return left


def final(i: int, left: dict[int, Match]) -> int:
    """The text that stays, at the end of the way on which text i left."""
    while i in left:
        i = left[i].other
    return i
