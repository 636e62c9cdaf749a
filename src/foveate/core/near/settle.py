"""From matches to who stays: the definition that every near-duplicate method serves.

Texts stand in their order of preference, the preferred first. Two passes:

1. *By preference.* From first to last, a text leaves if it matches a text kept so far that is not
   a fragment of it. It leaves for the first such text; otherwise it is kept.
2. *By fullness.* Among the kept, from the fullest to the shortest, a text leaves if it is a
   fragment of, and matches, a later one that still stays. It leaves for the fullest such text.

A text is a fragment of another when all its words, as often as it has them, are in the other,
which has more. So a fragment never evicts its container, however well it scores, and what is kept
in the end matches nothing else that is kept: settling it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Match:
    """A text that matches, by its place, and how similar it is (for the record only)."""

    other: int
    similarity: float


class Finder(Protocol):
    """One method of telling near duplicates, told of every text in order of preference."""

    compared: int
    """How many pairs were compared in full."""

    def matches(self, i: int) -> list[Match]:
        """The kept texts that text i matches, in the order they were kept."""

    def keep(self, i: int) -> None:
        """Text i is kept."""


def settle(
    lengths: Sequence[int], finder: Finder, fragment: Callable[[int, int], bool]
) -> dict[int, Match]:
    """Who leaves, and for whom. `fragment(a, b)`: a is a fragment of b that must not evict it."""
    left: dict[int, Match] = {}
    containers: dict[int, list[Match]] = {}
    for i in range(len(lengths)):
        found = finder.matches(i)
        evictor = next((match for match in found if not fragment(match.other, i)), None)
        if evictor is not None:
            left[i] = evictor
            continue
        finder.keep(i)
        for match in found:
            containers.setdefault(match.other, []).append(Match(i, match.similarity))
    for part in sorted(containers, key=lambda i: (-lengths[i], i)):
        fullest_first = sorted(containers[part], key=lambda m: (-lengths[m.other], m.other))
        container = next((match for match in fullest_first if match.other not in left), None)
        if container is not None:
            left[part] = container
    return left


def final(i: int, left: dict[int, Match]) -> int:
    """The text that stays, at the end of the way on which text i left."""
    while i in left:
        i = left[i].other
    return i
