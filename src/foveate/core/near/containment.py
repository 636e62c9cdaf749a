"""Containment: how much of a text's word triples stands in another text.

Texts come fullest first, so this is the shared triples over the smaller set. The fast path:
`meet.py` finds the pairs, by what each text's profile keeps; the pairs it finds are laid side by
side in full (`aligned.py`). A text without words matches nothing; a text of one or two words is
one run of its own and matches only its like.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import chain

from foveate.core.near.crowds import Crowds
from foveate.core.near.meet import Met, meet
from foveate.core.near.settle import Match, settle
from foveate.core.near.signature import signature
from foveate.core.near.texts import Texts, changed_at
from foveate.core.near.threshold import Threshold
from foveate.core.text.profile import profile
from foveate.core.types import Candidate, rank

Settled = tuple[Texts, dict[int, Match], int]


def contained(
    pool: Sequence[Candidate], threshold: Threshold, *, guard: bool, newest: bool
) -> Settled:
    """The texts that meet another, in order of preference; who leaves for whom; pairs compared."""
    signatures = [
        signature(profile(candidate.chunk.content_hash), candidate.chunk.text, threshold)
        for candidate in pool
    ]
    met = meet(signatures)
    if not met.pairs and not met.crowds:
        return Texts((), dated=newest), {}, 0

    def fullest(i: int) -> tuple[object, ...]:
        date = -changed_at(pool[i]) if newest else 0
        return (date, -len(signatures[i].whole), -signatures[i].length, rank(pool[i]))

    order = sorted(_involved(met), key=fullest)
    texts = Texts([pool[i] for i in order], dated=newest)
    finder = Containment(texts, met, {i: n for n, i in enumerate(order)}, threshold, guard=guard)
    return texts, settle(range(len(texts)), finder), finder.compared


class Containment:
    """A finder over the texts that meet; `place` tells where a text of `met` stands in them."""

    def __init__(
        self, texts: Texts, met: Met, place: dict[int, int], threshold: Threshold, *, guard: bool
    ) -> None:
        import numpy as np

        self.compared = 0
        self._texts = texts
        self._threshold = threshold
        self._guard = guard
        self._kept: set[int] = set()
        self._mask = 0
        self._near: defaultdict[int, list[int]] = defaultdict(list)
        for one, other in met.pairs:
            self._near[place[one]].append(place[other])
        self._crowds = None
        if met.crowds:
            where = np.zeros(max(place) + 1, dtype=np.int64)
            where[list(place)] = list(place.values())
            crowds = [(where[members], where[askers]) for members, askers in met.crowds]
            weights = texts.weights if guard and not texts.dated else None
            self._crowds = Crowds(crowds, len(texts), weights)

    def earlier(self, i: int) -> Match | None:
        """The last kept text that text i may leave for, the closest to it in fullness."""
        near = sorted((n for n in self._near.get(i, ()) if n < i and n in self._kept), reverse=True)
        crowd = self._crowds.earlier(i, self._mask) if self._crowds else []
        return self._first(i, merge(near, crowd, reverse=True) if crowd else near)

    def keep(self, i: int) -> None:
        """Text i is kept."""
        self._kept.add(i)
        if self._crowds:
            self._mask |= 1 << i

    def later(self, i: int, left: dict[int, Match]) -> Match | None:
        """The first kept text after it that text i may leave for, the fullest."""
        near = sorted(n for n in self._near.get(i, ()) if n > i and n in self._kept)
        crowd = self._crowds.later(i, self._mask) if self._crowds else []
        found = self._first(i, [n for n in merge(near, crowd) if self._texts.same_date(i, n)])
        if found is not None:
            self._kept.discard(i)
            self._mask &= ~(1 << i)
        return found

    def _first(self, i: int, others: Iterable[int]) -> Match | None:
        last = -1
        for other in others:
            if other == last:  # met in a crowd and elsewhere
                continue
            last = other
            match = self._match(i, other)
            if match is not None:
                return match
        return None

    def _match(self, i: int, other: int) -> Match | None:
        self.compared += 1
        texts = self._texts
        size, verdict = texts.size(i), texts.beside(i, other)
        if verdict.shared < self._threshold.least(size):
            return None
        if self._guard and not texts.versions(i, other) and not verdict.said:
            return None
        if verdict.fragment and texts.same_date(i, other):
            return None
        return Match(other, verdict.shared / size)


def _involved(met: Met) -> set[int]:
    involved = set(chain.from_iterable(met.pairs))
    for members, _ in met.crowds:
        involved.update(members.tolist())
    return involved
