"""Runs of consecutive words: what two texts share when one quotes the other.

Rules: a text's shingles are distinct and in reading order; a text of fewer words than a shingle
has one, its whole self, so that "Yes." is equal to "Yes." but is not found inside longer texts;
a text without words has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

SIZE = 3


def shingles(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The distinct runs of three words.

    >>> shingles(("to", "be", "or", "not"))
    (('to', 'be', 'or'), ('be', 'or', 'not'))
    """
    return tuple(dict.fromkeys(_runs(words)))


def stretch(words: Sequence[str], wanted: Collection[tuple[str, ...]]) -> tuple[int, int]:
    """The shortest stretch of the words that holds each wanted shingle that is in them at all.

    The first of equals; (0, 0) where there is none. One pass.

    >>> stretch("a b c x a b c d y".split(), {("a", "b", "c"), ("b", "c", "d")})
    (4, 8)
    """
    runs = _runs(words)
    found = [(place, run) for place, run in enumerate(runs) if run in wanted]
    missing = len({run for _, run in found})
    inside: Counter[tuple[str, ...]] = Counter()
    best = (0, len(words) if found else 0)
    first = 0
    for place, run in found:
        inside[run] += 1
        missing -= inside[run] == 1
        while missing == 0:
            start, leaving = found[first]
            end = place + len(leaving)
            if end - start < best[1] - best[0]:
                best = (start, end)
            inside[leaving] -= 1
            missing += inside[leaving] == 0
            first += 1
    return best


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    if 0 < len(words) < SIZE:
        return [tuple(words)]
    return list(zip(*(words[i:] for i in range(SIZE)), strict=False))
