"""Candidates as compared texts, and whether one says in place all of weight that another says.

1. A triple of words that occurs once in each text is an anchor, extended to a *block* as far as the
   words agree. Blocks of fewer than `LEAST` words (half the text if that is shorter) do not count.
2. In each gap between blocks the staying text must have every word of weight of the leaving text,
   in order, and turn nothing (`word_weight.py`); it may have at most `SLACK` words more.
3. Blocks may be in another order only if nothing of weight stands between them.
4. Before the first and after the last block the same holds, for as many words and `SLACK` more:
   "enter" leaves neither for "it is not true that we enter" nor for "enter only if asked".
5. A number stands behind the same word of weight in both: 50 does not leave for under 50.
6. Nothing of weight stands in front of or behind a whole sentence of the leaving text within the
   staying one: "we enter" leaves for no text that says "it is said that we enter".
7. The facts are the same (`text/sameness.py`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from foveate.core.stages.dedup.triples import ShingledText, shingled_text
from foveate.core.text.facts import extract_facts
from foveate.core.text.sameness import has_same_facts, sentence_bounds
from foveate.core.text.word_weight import numeral, said_words, says, turning, weights
from foveate.core.text.words import SHINGLE_SIZE
from foveate.core.types import Candidate

if TYPE_CHECKING:
    from foveate.core.types import Runs

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNKNOWN = -(10**18)


def changed_at(candidate: Candidate) -> int:
    """When the text was last changed, in microseconds; the unknown is before everything."""
    moment = candidate.chunk.modified_at
    return UNKNOWN if moment is None else (moment - _EPOCH) // timedelta(microseconds=1)


class Comparison(NamedTuple):
    """Two texts compared: shared triples, whether the other says all.

    None: they share too few triples to ask.
    """

    shared: int
    said: bool | None


class Texts:
    """Candidates in order of preference; `dated`: the time of change decides.

    `runs`: the triples of each text, if they are known.
    """

    def __init__(
        self, candidates: Sequence[Candidate], *, dated: bool, runs: Sequence[Runs] = ()
    ) -> None:
        self._runs = runs
        self.candidates = candidates
        self.dated = dated
        self._shingled: dict[int, ShingledText] = {}
        self._facts: dict[int, tuple[str, ...]] = {}
        self._weights: dict[int, frozenset[str]] = {}
        self._bounds: dict[int, tuple[int, ...]] = {}
        self._compared: dict[tuple[int, int], Comparison] = {}

    def __len__(self) -> int:
        return len(self.candidates)

    def shingled(self, i: int) -> ShingledText:
        """Text i's words and triples."""
        found = self._shingled.get(i)
        if found is None:
            runs = self._runs[i] if self._runs else None
            found = self._shingled[i] = shingled_text(self.candidates[i].chunk.text, runs)
        return found

    def words(self, i: int) -> tuple[str, ...]:
        """Text i's words."""
        return self.shingled(i).words

    def facts(self, i: int) -> tuple[str, ...]:
        """Text i's facts."""
        found = self._facts.get(i)
        if found is None:
            text = self.candidates[i].chunk.text
            found = self._facts[i] = extract_facts(text, self.words(i))
        return found

    def weights(self, i: int) -> frozenset[str]:
        """What text i's words weigh, each once."""
        found = self._weights.get(i)
        if found is None:
            found = self._weights[i] = frozenset(weights(self.words(i)))
        return found

    def bounds(self, i: int) -> tuple[int, ...]:
        """Between which words sentences of text i end and begin."""
        found = self._bounds.get(i)
        if found is None:
            found = self._bounds[i] = sentence_bounds(self.candidates[i].chunk.text)
        return found

    def beside(self, i: int, other: int, least: int) -> Comparison:
        """Text i compared with the other; with fewer than `least` triples, only counted."""
        made = self._compared.get((i, other))
        if made is not None and (made.said is not None or made.shared < least):
            return made
        shared, anchors = common(self.shingled(i), self.shingled(other))
        made = Comparison(shared, None)
        if shared >= least:
            mine, theirs = self.words(i), self.words(other)
            alike = (
                has_same_facts(self.facts(i), self.facts(other), mine)
                and is_covered(mine, theirs, anchors)
                and not self.framed(i, other)
            )
            made = Comparison(shared, alike)
        self._compared[i, other] = made
        return made

    def framed(self, i: int, other: int) -> bool:
        """Whether the other text frames a sentence of text i: "it is said that"."""
        anchors = common(self.shingled(i), self.shingled(other))[1]
        bounds = self.bounds(i), self.bounds(other)
        return is_framed(self.words(i), self.words(other), anchors, bounds)

    def fragment(self, part: int, whole: int) -> bool:
        """Whether all words of `part` are in `whole`, which has more; never across dates."""
        one, other = self.words(part), self.words(whole)
        same = self.same_date(part, whole) and len(one) < len(other)
        return same and Counter(one) <= Counter(other)

    def same_date(self, i: int, other: int) -> bool:
        """Whether age does not decide between the two."""
        if not self.dated:
            return True
        one, two = self.candidates[i].chunk, self.candidates[other].chunk
        return one.modified_at == two.modified_at

    def versions(self, i: int, other: int) -> bool:
        """Whether the two are the same document or source at two known times, and that counts."""
        one, two = self.candidates[i].chunk, self.candidates[other].chunk
        if not self.dated or one.modified_at is None or two.modified_at is None:
            return False
        same = one.document_id == two.document_id or one.source == two.source
        return same and one.modified_at != two.modified_at


LEAST = 8
SLACK = 8
_STEP = 64

Anchors: TypeAlias = tuple[Sequence[int], Sequence[int]]
"""Where the triples that occur once in both stand in the one, ascending, and in the other."""
Block: TypeAlias = tuple[int, int, int]
"""Words p, p + 1, … of the one are words q, q + 1, … of the other: (p, q, how many)."""


def common(mine: ShingledText, theirs: ShingledText) -> tuple[int, Anchors]:
    """How many distinct triples of the one stand in the other; and the anchors, in order."""
    if not len(mine.runs) or not len(theirs.whole):
        return 0, ([], [])
    at = theirs.whole.searchsorted(mine.runs)
    hit = theirs.whole.take(at, mode="clip") == mine.runs
    count = int(np.count_nonzero(hit if len(mine.places) == len(mine.runs) else hit[mine.places]))
    hit &= mine.alone
    here = np.flatnonzero(hit)
    there = theirs.once.take(at[here])
    fine = there >= 0
    return count, (here[fine].tolist(), there[fine].tolist())


def is_framed(
    mine: Sequence[str],
    theirs: Sequence[str],
    anchors: Anchors,
    bounds: tuple[Sequence[int], Sequence[int]],
) -> bool:
    """Whether `theirs` puts words of weight in front of or behind a whole sentence of `mine`.

    `bounds`: between which words of the two sentences end (`sentence_bounds`).
    """
    ends, others = bounds
    here = there = 0
    for p, q, many in (*_blocks(mine, theirs, anchors), (len(mine), len(theirs), 0)):
        start = others[max(bisect_right(others, q) - 1, 0)] if others else 0
        stop = others[min(bisect_left(others, there), len(others) - 1)] if others else q
        if many and p in ends and there <= start < q and said_words(theirs[start:q]):
            return True
        if here and here in ends and there < stop <= q and said_words(theirs[there:stop]):
            return True
        here, there = p + many, q + many
    return False


def is_covered(mine: Sequence[str], theirs: Sequence[str], anchors: Anchors) -> bool:
    """Whether `theirs` says in place all of weight that `mine` says; both are words."""
    return all(_fits(one, other) for one, other in _gaps(mine, theirs, anchors))


def _fits(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    if not mine:
        return not theirs or not turning(theirs)
    if len(theirs) > len(mine) + SLACK:
        return says((), mine) and not turning(theirs)
    return says(theirs, mine)


def _gaps(
    mine: Sequence[str], theirs: Sequence[str], anchors: Anchors
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """The words before, between and behind the blocks; a number goes with what stands before it."""
    here = there = 0
    found = False
    for p, q, many in _blocks(mine, theirs, anchors):
        start = there if found else max(0, q - p - SLACK)
        if numeral(mine[p]):
            yield mine[here : p + 1], theirs[start : q + 1]
        else:
            yield mine[here:p], theirs[start:q]
        found, here, there = True, p + many, q + many
    rest = mine[here:]
    if not found:
        yield rest, theirs
    else:
        yield rest, theirs[there : there + len(rest) + SLACK]


def _blocks(mine: Sequence[str], theirs: Sequence[str], anchors: Anchors) -> Iterator[Block]:
    least = min(LEAST, max(SHINGLE_SIZE, (len(mine) + 1) // 2))
    here = there = n = 0
    while (n := bisect_left(anchors[0], here, n)) < len(anchors[0]):
        p, q = anchors[0][n], anchors[1][n]
        before = _back(mine, theirs, p, q, min(p - here, q - there if q >= there else q))
        many = before + _along(mine, theirs, p, q)
        if many >= least:
            yield p - before, q - before, many
            here, there = p - before + many, q - before + many
        n += 1


def _along(mine: Sequence[str], theirs: Sequence[str], p: int, q: int) -> int:
    start, limit = p, min(len(mine), p + len(theirs) - q)
    while p + _STEP <= limit and mine[p : p + _STEP] == theirs[q : q + _STEP]:
        p, q = p + _STEP, q + _STEP
    while p < limit and mine[p] == theirs[q]:
        p, q = p + 1, q + 1
    return p - start


def _back(mine: Sequence[str], theirs: Sequence[str], p: int, q: int, most: int) -> int:
    many = 0
    while many < most and mine[p - many - 1] == theirs[q - many - 1]:
        many += 1
    return many
