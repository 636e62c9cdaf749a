"""Texts that are similar by their words or their vectors, and which may be dropped for which.

Both texts have the same facts in the same order (`text/facts.py`), and the kept text has every
weight of the other, as often (`word_weight.py`), frames no sentence of it, and within a sentence no
two words changed places around a third (`text/sameness.py`). For texts whose vectors agree the
facts may stand in any order, if each number follows the same word in both, and each negation
precedes the same. The guard first narrows many texts over arrays, then judges a pair exactly.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from foveate.core.stages.dedup.compared_texts import Texts, changed_at
from foveate.core.stages.dedup.jaccard import Ints, Jaccard, word_bags
from foveate.core.stages.dedup.resolve_duplicates import (
    Match,
    Resolution,
    Threshold,
    resolve_duplicates,
)
from foveate.core.stages.dedup.semantic import Semantic
from foveate.core.text.sameness import swaps_parties
from foveate.core.text.word_weight import bound_facts, weights
from foveate.core.types import Candidate, rank

WORDS_AGREE = 0.5
"""The Jaccard similarity that the words of texts with like vectors must have."""
_FEW = 16


def resolve_similar(
    pool: Sequence[Candidate], threshold: Threshold, *, vectors: bool, guard: bool, newest: bool
) -> Resolution:
    """The texts in order of preference; who leaves for whom; pairs compared in full."""
    preferred = sorted(pool, key=lambda c: (-changed_at(c) if newest else 0, rank(c)))
    texts = Texts(preferred, dated=newest)
    bags = word_bags([texts.words(i) for i in range(len(texts))])
    says = Says(texts, versions=not vectors, any_order=vectors) if guard else None
    narrow = None if says is None else says.among
    words = Jaccard(bags, Threshold(WORDS_AGREE) if vectors else threshold, narrow)
    search: Jaccard | Semantic = words
    if vectors:
        rows = [candidate.chunk.embedding for candidate in preferred]
        search = Semantic(rows, threshold, words if guard else None)
    finder = SymmetricFinder(texts, search, says)
    return preferred, resolve_duplicates(range(len(texts)), finder), search.compared


class Says:
    """The same facts, and all that weighs; `versions`: newer versions need not say either.

    `any_order`: facts may stand in another order, bound to the same words.
    """

    def __init__(self, texts: Texts, *, versions: bool, any_order: bool = False) -> None:
        self._texts = texts
        self._any_order = any_order
        self._versions = versions and texts.dated
        self._alike: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
        self._holders: defaultdict[str, set[int]] = defaultdict(set)
        self._marked: defaultdict[str, set[int]] = defaultdict(set)
        self._origins: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        self._rarest: list[str] = []
        self._unposted: list[int] = []

    def among(self, i: int, others: Ints) -> Ints:
        """Of many, those that have text i's facts and its rarest word, or whose rarest it has."""
        if len(others) <= _FEW:
            return others
        self._post()
        fine = self._holders[self._rarest[i]].union(
            *(self._marked[word] for word in self._word_set(i) if word in self._marked)
        )
        fine &= self._alike[self._facts(i)]
        if self._versions:
            fine = fine.union(*(self._origins[origin] for origin in self._origin(i)))
        wanted = np.array(sorted(fine), dtype=np.int64)
        narrowed: Ints = wanted[others.take(others.searchsorted(wanted), mode="clip") == wanted]
        return narrowed

    def allows(self, i: int, other: int) -> bool:
        """Whether the other text has the same facts and all words of weight, or need not."""
        texts = self._texts
        if self._versions and texts.versions(i, other):
            return True
        if self._facts(i) != self._facts(other):
            return False
        mine, theirs = texts.words(i), texts.words(other)
        if mine == theirs:
            return True
        if self._any_order and bound_facts(mine) != bound_facts(theirs):
            return False
        one, two = list(weights(mine)), list(weights(theirs))
        if not Counter(one) <= Counter(two) or texts.framed(i, other):
            return False
        cuts = pairwise((0, *texts.bounds(i), len(mine)))
        return not any(swaps_parties(list(weights(mine[a:b])), two) for a, b in cuts)

    def keep(self, i: int) -> None:
        """Remember to post its words when they are needed."""
        self._unposted.append(i)

    def _post(self) -> None:
        if not self._rarest:
            spread = Counter(word for i in range(len(self._texts)) for word in self._word_set(i))
            for i in range(len(self._texts)):
                self._rarest.append(min(self._word_set(i), key=lambda word: (spread[word], word)))
        for i in self._unposted:
            self._alike[self._facts(i)].add(i)
            self._marked[self._rarest[i]].add(i)
            for word in self._word_set(i):
                self._holders[word].add(i)
            for origin in self._origin(i) if self._versions else ():
                self._origins[origin].add(i)
        self._unposted.clear()

    def _facts(self, i: int) -> tuple[str, ...]:
        facts = self._texts.facts(i)
        return tuple(sorted(facts)) if self._any_order else facts

    def _word_set(self, i: int) -> frozenset[str]:
        """Text i's weights, and the weight of nothing, which every text has."""
        return self._texts.weights(i) | {""}

    def _origin(self, i: int) -> tuple[tuple[str, str], ...]:
        chunk = self._texts.candidates[i].chunk
        return ("document", chunk.document_id), ("source", chunk.source)


class SymmetricFinder:
    """A finder over similar texts: the first that a text may leave for, then the fullest."""

    def __init__(self, texts: Texts, search: Jaccard | Semantic, guard: Says | None) -> None:
        self._texts = texts
        self._search = search
        self._guard = guard
        self._found: list[Match] = []
        self._later: defaultdict[int, list[Match]] = defaultdict(list)

    def find_earlier(self, i: int) -> Match | None:
        """The first kept text that text i may leave for."""
        self._found = self._search.similar(i)
        return next((match for match in self._found if self._may_leave(i, match.other)), None)

    def keep(self, i: int) -> None:
        """Text i is kept; of those it is similar to, some may leave for it."""
        self._search.keep(i)
        if self._guard is not None:
            self._guard.keep(i)
        for match in self._found:
            same = self._texts.same_date(match.other, i)
            if same and self._may_leave(match.other, i):
                self._later[match.other].append(Match(i, match.similarity))

    def find_later(self, i: int, left: dict[int, Match]) -> Match | None:
        """The fullest of the later texts that stay and that text i may leave for."""
        staying = [match for match in self._later.get(i, ()) if match.other not in left]
        return min(staying, key=self._fullest, default=None)

    def _fullest(self, match: Match) -> tuple[int, int]:
        return -len(self._texts.words(match.other)), match.other

    def _may_leave(self, i: int, other: int) -> bool:
        allowed = self._guard is None or self._guard.allows(i, other)
        return allowed and not self._texts.fragment(other, i)
