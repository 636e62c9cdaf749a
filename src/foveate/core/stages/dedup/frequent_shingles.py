"""Whom a text meets in a crowd: a word triple that very many texts have.

A page footer, or a template of which ten thousand rows are in the pool: every text of a crowd
meets every other, and comparing them would be quadratic. Rules: a text is lost in the crowd when
its other triples are too few to find all that could hold enough of it. Of those it meets in any
triple only those can be left for that have all its words of weight (not asked where a newer version
may drop words); of these, the nearest 16 in the order of preference are compared, to either side.
Sets of texts are whole numbers with a bit for each text: thousands are sifted in one step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from foveate.core.stages.dedup.candidate_pairs import CROWD

if TYPE_CHECKING:
    from foveate.core.stages.dedup.candidate_pairs import Ints

NEAREST = 16


class FrequentShingles:
    """Crowds as sets of places; `weights(i)` are text i's words of weight, None: do not ask."""

    def __init__(
        self,
        crowds: Sequence[tuple[Ints, Ints]],
        texts: int,
        weights: Callable[[int], Collection[str]] | None,
    ) -> None:
        self._texts = texts
        self._weights = weights
        self._asks: defaultdict[int, list[int]] = defaultdict(list)
        self._few: defaultdict[int, list[Ints]] = defaultdict(list)
        self._members: list[int] = []
        for members, askers in crowds:
            for i in askers.tolist():
                if len(members) > CROWD:
                    self._asks[i].append(len(self._members))
                else:
                    self._few[i].append(members)
            if len(members) > CROWD:
                self._members.append(_bits(members, texts))
        self._holders: dict[str, list[int]] = defaultdict(list)
        self._sets: dict[str, int] = {}
        self._known: dict[int, int] = {}
        if weights is not None:
            for i in sorted({i for members, _ in crowds for i in members.tolist()}):
                for word in weights(i):
                    self._holders[word].append(i)

    def earlier(self, i: int, kept: int) -> list[int]:
        """The nearest before text i, nearest first; `kept` is a set of places."""
        return list(islice(_descending(self._met(i) & kept & (1 << i) - 1), NEAREST))

    def later(self, i: int, kept: int) -> list[int]:
        """The nearest after text i, nearest first."""
        return list(islice(_ascending((self._met(i) & kept) >> i + 1 << i + 1), NEAREST))

    def _met(self, i: int) -> int:
        """Those that text i meets and that have all its words of weight."""
        known = self._known.get(i)
        if known is None:
            known = _bits([n for few in self._few.get(i, ()) for n in few.tolist()], self._texts)
            for number in self._asks.get(i, ()):
                known |= self._members[number]
            if known and self._weights is not None:
                words = self._weights(i)
                rarest = [min(words, key=self._rarity)] if words else []
                for word in (*rarest, *words):
                    known &= self._having(word)
                    if known.bit_count() < 2:  # itself
                        break
            self._known[i] = known
        return known

    def _rarity(self, word: str) -> tuple[int, str]:
        return len(self._holders[word]), word

    def _having(self, word: str) -> int:
        known = self._sets.get(word)
        if known is None:
            known = self._sets[word] = _bits(self._holders[word], self._texts)
        return known


def _bits(places: Ints | Sequence[int], texts: int) -> int:
    import numpy as np

    flags = np.zeros(texts, dtype=np.uint8)
    flags[places] = 1
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _descending(places: int) -> Iterator[int]:
    while places:
        last = places.bit_length() - 1
        yield last
        places ^= 1 << last


def _ascending(places: int) -> Iterator[int]:
    while places:
        first = places & -places
        yield first.bit_length() - 1
        places ^= first
