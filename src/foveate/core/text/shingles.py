"""Runs of consecutive words: what two texts share when one quotes the other.

Rules: a text's shingles are distinct and in reading order; a text of fewer words than a shingle
has one, its whole self, so that "Yes." is equal to "Yes." but is not found inside longer texts;
a text without words has none.
"""

from __future__ import annotations

from collections.abc import Sequence


def shingles(words: Sequence[str], size: int = 3) -> tuple[tuple[str, ...], ...]:
    """The distinct runs of `size` words.

    >>> shingles(("to", "be", "or", "not"))
    (('to', 'be', 'or'), ('be', 'or', 'not'))
    """
    if 0 < len(words) < size:
        return (tuple(words),)
    return tuple(dict.fromkeys(zip(*(words[i:] for i in range(size)), strict=False)))
