"""Whether one text says all of weight that another says, in the same place.

Not a search: it judges a pair that was found, on the words themselves. The words of the text that
would leave are laid beside those of the one that would stay:

1. A triple of words that stands once in each is an anchor. From it, as far as the words agree to
   both sides, goes a *block*. Blocks of fewer than `LEAST` words (half the text where it is
   shorter) are accidents of wording and do not count.
2. Between blocks stands what differs: a gap in the one, a gap in the other. The staying text's
   must have every word of weight of the leaving text's, in order, and turn nothing (`weight.py`);
   it may have no more than `SLACK` words more where there is such a word.
3. Where the blocks stand in another order, nothing of weight may stand between them.
4. Before the first and after the last block the same holds of as many words and `SLACK` more, so
   that "enter" leaves neither for "it is not true that we enter" nor for "enter only if asked".
5. A number stands behind the same word of weight in both: 50 does not leave for under 50.
6. All facts of the leaving text are facts of the staying one, in order; a number that only looks
   alike (-5, 5) is no such fact, and signs of code (!ready) are the same in both. What the
   leaving text says, the staying one does not ask.

So the staying text may say more in between, but nothing that negates, limits or conditions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from foveate.core.stages.dedup.word_weight import numeral, says, turning
from foveate.core.text.facts import code_signs, has_in_order, question_facts
from foveate.core.text.shingles import SHINGLE_SIZE
from foveate.core.text.words import split_words

if TYPE_CHECKING:
    from foveate.core.stages.dedup.signature import ShingledText

LEAST = 8
SLACK = 8
_STEP = 64

Block: TypeAlias = tuple[int, int, int]
"""Words p, p + 1, … of the one are words q, q + 1, … of the other: (p, q, how many)."""


def common(mine: ShingledText, theirs: ShingledText) -> tuple[int, list[tuple[int, int]]]:
    """How many distinct triples of the one stand in the other; and the anchors, in order."""
    import numpy as np

    if not len(mine.runs) or not len(theirs.whole):
        return 0, []
    at = theirs.whole.searchsorted(mine.runs)
    hit = theirs.whole.take(at, mode="clip") == mine.runs
    count = int(np.count_nonzero(hit if len(mine.places) == len(mine.runs) else hit[mine.places]))
    hit &= mine.alone
    here = np.flatnonzero(hit)
    there = theirs.once.take(at[here])
    fine = there >= 0
    return count, list(zip(here[fine].tolist(), there[fine].tolist(), strict=True))


def is_covered(
    mine: Sequence[str], theirs: Sequence[str], anchors: Sequence[tuple[int, int]]
) -> bool:
    """Whether `theirs` says in place all of weight that `mine` says; both are words."""
    return all(_fits(one, other) for one, other in _gaps(mine, theirs, anchors))


def is_consistent(
    mine: tuple[str, ...], theirs: tuple[str, ...], spelled: Collection[str] = ()
) -> bool:
    """Whether all facts of the one are facts of the other, and no other one looks like them.

    `spelled` are the words of the one: the other asks none that the one only says.
    """
    if mine == theirs:
        return True
    if not has_in_order(theirs, mine) or code_signs(mine) != code_signs(theirs):
        return False
    more = Counter(question_facts(theirs)) - Counter(question_facts(mine))
    if any(word in spelled for word in more):
        return False
    bare = set(map(split_words, mine))
    return not any(split_words(fact) in bare for fact in set(theirs).difference(mine))


def _fits(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    if not mine:
        return not theirs or not turning(theirs)
    if len(theirs) > len(mine) + SLACK:
        return says((), mine) and not turning(theirs)
    return says(theirs, mine)


def _gaps(
    mine: Sequence[str], theirs: Sequence[str], anchors: Sequence[tuple[int, int]]
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """What stands before, between and behind the blocks, in the one and in the other.

    Where a block begins with a number, that belongs to what stands before it.
    """
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


def _blocks(
    mine: Sequence[str], theirs: Sequence[str], anchors: Sequence[tuple[int, int]]
) -> Iterator[Block]:
    least = min(LEAST, max(SHINGLE_SIZE, (len(mine) + 1) // 2))
    here = there = 0
    for p, q in anchors:
        if p < here:
            continue
        before = _back(mine, theirs, p, q, min(p - here, q - there if q >= there else q))
        many = before + _along(mine, theirs, p, q)
        if many >= least:
            yield p - before, q - before, many
            here, there = p - before + many, q - before + many


def _along(mine: Sequence[str], theirs: Sequence[str], p: int, q: int) -> int:
    """How many words from p and q on are the same."""
    start, limit = p, min(len(mine), p + len(theirs) - q)
    while p + _STEP <= limit and mine[p : p + _STEP] == theirs[q : q + _STEP]:
        p, q = p + _STEP, q + _STEP
    while p < limit and mine[p] == theirs[q]:
        p, q = p + 1, q + 1
    return p - start


def _back(mine: Sequence[str], theirs: Sequence[str], p: int, q: int, most: int) -> int:
    """How many words before p and q are the same, `most` at most."""
    many = 0
    while many < most and mine[p - many - 1] == theirs[q - many - 1]:
        many += 1
    return many
