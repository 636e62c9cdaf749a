"""Containment: the share of a text's word triples that another text has.

Texts come fullest first, so this is the shared triples over the smaller set. A text without words
matches nothing; a text of one or two words is one run and matches only an equal one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np

from foveate.core.stages.dedup.compared_texts import Texts, changed_at
from foveate.core.stages.dedup.resolve_duplicates import (
    Match,
    Resolution,
    Threshold,
    resolve_duplicates,
)
from foveate.core.stages.dedup.triples import (
    FREQUENT,
    CandidatePairs,
    Ints,
    compute_signatures,
    find_candidate_pairs,
)
from foveate.core.types import Candidate, rank


def resolve_contained(
    pool: Sequence[Candidate], threshold: Threshold, *, guard: bool, newest: bool
) -> Resolution:
    """The texts that meet another, in order of preference; who leaves for whom; pairs compared."""
    signatures = compute_signatures([candidate.chunk.text for candidate in pool], threshold)
    met = find_candidate_pairs(signatures)
    if not met.pairs and not met.frequent:
        return (), {}, 0

    def fullest(i: int) -> tuple[object, ...]:
        date = -changed_at(pool[i]) if newest else 0
        own = signatures[i]
        return (date, -len(own.whole), -own.length, rank(pool[i]))

    order = sorted(_involved(met), key=fullest)
    runs = [signatures[i].runs for i in order]
    texts = Texts([pool[i] for i in order], dated=newest, runs=runs)
    least = [signatures[i].least for i in order]
    finder = Containment(texts, met, {i: n for n, i in enumerate(order)}, least, guard=guard)
    left = resolve_duplicates(range(len(texts)), finder)
    shares = {i: _shares(match, texts, i) for i, match in left.items()}
    return texts.candidates, shares, finder.compared


class Containment:
    """A finder over candidate pairs; `least` triples of a text are enough."""

    def __init__(
        self,
        texts: Texts,
        met: CandidatePairs,
        place: dict[int, int],
        least: list[int],
        *,
        guard: bool,
    ) -> None:
        self.compared = 0
        self._texts = texts
        self._least = least
        self._guard = guard
        self._kept: set[int] = set()
        self._mask = 0
        self._near: dict[int, list[int]] = {}
        for one, other in met.pairs:
            self._near.setdefault(place[one], []).append(place[other])
        self._frequent = None
        if met.frequent:
            where = np.zeros(max(place) + 1, dtype=np.int64)
            where[list(place)] = list(place.values())
            frequent = [(where[members], where[askers]) for members, askers in met.frequent]
            weights = texts.weights if guard and not texts.dated else None
            self._frequent = FrequentShingles(frequent, len(texts), weights)

    def find_earlier(self, i: int) -> Match | None:
        """The last kept text that text i may leave for, the closest to it in fullness."""
        found = [n for n in self._near.get(i, ()) if n < i and n in self._kept]
        if self._frequent:
            found += self._frequent.find_earlier(i, self._mask)  # one of the two is empty
        return self._first(i, sorted(found, reverse=True)) if found else None

    def keep(self, i: int) -> None:
        """Text i is kept."""
        self._kept.add(i)
        if self._frequent:
            self._mask |= 1 << i

    def find_later(self, i: int, left: dict[int, Match]) -> Match | None:
        """The first kept text after it that text i may leave for, the fullest."""
        found = [n for n in self._near.get(i, ()) if n > i and n in self._kept]
        if self._frequent:
            found += self._frequent.find_later(i, self._mask)  # one of the two is empty
        if self._texts.dated:
            found = [n for n in found if self._texts.same_date(i, n)]
        match = self._first(i, sorted(found)) if found else None
        if match is not None:
            self._kept.discard(i)
            self._mask &= ~(1 << i)
        return match

    def _first(self, i: int, others: Iterable[int]) -> Match | None:
        return next((Match(other, 0.0) for other in others if self._may_leave(i, other)), None)

    def _may_leave(self, i: int, other: int) -> bool:
        self.compared += 1
        texts = self._texts
        shared, said = texts.beside(i, other, self._least[i])
        if shared < self._least[i]:
            return False
        if self._guard and not said and not texts.versions(i, other):
            return False
        return not texts.fragment(other, i)


def _shares(match: Match, texts: Texts, i: int) -> Match:
    return Match(match.other, texts.beside(i, match.other, 0).shared / len(texts.shingled(i).whole))


def _involved(met: CandidatePairs) -> set[int]:
    involved = set(chain.from_iterable(met.pairs))
    for members, _ in met.frequent:
        involved.update(members.tolist())
    return involved


NEAREST = 16


class FrequentShingles:
    """The partners of texts whose triples nearly all stand in more than `FREQUENT` texts.

    Comparing all of a page footer's texts would be quadratic. Of the texts that share a triple,
    only those with all words of weight (`weights(i)`; None: not asked) are compared, the nearest 16
    to either side. Sets of texts are whole numbers with a bit for each text.
    """

    def __init__(
        self,
        frequent: Sequence[tuple[Ints, Ints]],
        texts: int,
        weights: Callable[[int], Collection[str]] | None,
    ) -> None:
        self._texts = texts
        self._weights = weights
        self._asks: defaultdict[int, list[int]] = defaultdict(list)
        self._few: defaultdict[int, list[Ints]] = defaultdict(list)
        self._members: list[int] = []
        for members, askers in frequent:
            for i in askers.tolist():
                if len(members) > FREQUENT:
                    self._asks[i].append(len(self._members))
                else:
                    self._few[i].append(members)
            if len(members) > FREQUENT:
                self._members.append(_bits(members, texts))
        self._holders: dict[str, list[int]] = defaultdict(list)
        self._sets: dict[str, int] = {}
        self._known: dict[int, int] = {}
        if weights is not None:
            for i in sorted({i for members, _ in frequent for i in members.tolist()}):
                for word in weights(i):
                    self._holders[word].append(i)

    def find_earlier(self, i: int, kept: int) -> list[int]:
        """The nearest before text i, nearest first; `kept` is a set of places."""
        return list(islice(_descending(self._met(i) & kept & (1 << i) - 1), NEAREST))

    def find_later(self, i: int, kept: int) -> list[int]:
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
