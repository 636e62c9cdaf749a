"""Runs of consecutive words: what two texts share when one quotes the other.

Rules: a text's shingles are distinct and in reading order; a text of fewer words than a shingle
has one, its whole self, so that "Yes." is equal to "Yes." but is not found inside longer texts;
a text without words has none.
"""

from __future__ import annotations

from collections.abc import Sequence

SHINGLE_SIZE = 3


def shingles(words: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The distinct runs of three words.

    >>> shingles(("to", "be", "or", "not"))
    (('to', 'be', 'or'), ('be', 'or', 'not'))
    """
    return tuple(dict.fromkeys(word_runs(words)))


def word_runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The runs of three words as they follow one another, repeats included."""
    if 0 < len(words) < SHINGLE_SIZE:
        return [tuple(words)]
    return list(zip(*(words[i:] for i in range(SHINGLE_SIZE)), strict=False))
