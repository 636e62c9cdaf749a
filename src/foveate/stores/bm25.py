"""BM25 over postings, wherever they came from: the formula that every store shares. Pure.

Nothing is parsed as a query, and sums run term by term in the order given (sorted), so a score is
the same whatever the order of insertion, and the same in every store.

Robertson and Zaragoza, "The probabilistic relevance framework", 2009; idf as in Lucene (never
negative); k1 = 1.2, b = 0.75.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

_K1 = 1.2
_B = 0.75
MAX_COUNT = 0xFFFF
"""Occurrences are kept in 16 bits; beyond, BM25 is saturated long since."""


def bm25_scores(found: Sequence[tuple[Any, Any]], lengths: Any, *, total: int, words: int) -> Any:
    """BM25 of every row, float64; 0 where no term is.

    `found`: per term, rows that may be read and how often each holds it. `lengths`: terms of
    every row. `total` and `words`: how many rows may be read, and their lengths' sum. A term that
    stands in more than half of the rows is left out where a rarer one is there.
    """
    import numpy as np

    scored = np.zeros(len(lengths), dtype=np.float64)
    if not words:
        return scored
    weights = idfs([len(positions) for positions, _ in found], total)
    for (positions, counts), weight in zip(found, weights, strict=True):
        if weight:
            about = damping(lengths[positions], total=total, words=words)
            scored[positions] += term_scores(counts, about, weight)
    return scored


def idfs(frequencies: Sequence[int], total: int) -> list[float]:
    """What each term weighs that stands in so many of `total` rows; 0 for one that is left out."""
    rare = any(0 < 2 * frequency <= total for frequency in frequencies)
    return [
        0.0
        if not frequency or (rare and 2 * frequency > total)
        # Rounded, because the last bit of a logarithm is the machine's own.
        else round(log(1 + (total - frequency + 0.5) / (frequency + 0.5)), 9)
        for frequency in frequencies
    ]


def damping(lengths: Any, *, total: int, words: int) -> Any:
    """What is added to a term's occurrences in rows of these lengths, float64."""
    return _K1 * (1 - _B + _B * (lengths * (total / words)))


def term_scores(counts: Any, about: Any, weight: float) -> Any:
    """What a term gives to rows that hold it so often; `about`: their damping."""
    found = counts.astype("f8")
    below = found + about
    found *= _K1 + 1
    found /= below
    found *= weight
    return found
