"""BM25, the order of results, and their fusion: the same in every store.

Robertson and Zaragoza, "The probabilistic relevance framework", 2009; idf as in Lucene (never
negative); k1 = 1.2, b = 0.75.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain, count
from math import log
from typing import Any

import numpy as np

from foveate.core.fuse import rrf
from foveate.core.types import Candidate, Chunk
from foveate.ports import SearchResult

_K1 = 1.2
_B = 0.75
SMALL_STORE = 200
"""Readable rows below which every term counts: among few, a word in most of them says a lot."""
MAX_COUNT = 0xFFFF
"""Occurrences are kept in 16 bits; beyond, BM25 is saturated long since."""


def group_terms(texts: Sequence[Sequence[str]]) -> tuple[list[str], Any, Any, Any]:
    """The terms of texts, each once, ascending; and where they are, in the order of the terms.

    For each term in each text that holds it: the numbers of the two, and how often it does.

    >>> terms, *places = group_terms([["b", "a", "b"], ["b"]])
    >>> terms, *(column.tolist() for column in places)
    (['a', 'b'], [0, 1, 1], [0, 0, 1], [1, 2, 1])
    """
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    flat = list(map(numbers.__getitem__, chain.from_iterable(texts)))
    terms = sorted(numbers)
    rank = np.empty(len(terms), dtype=np.int64)
    rank[np.array([numbers[term] for term in terms], dtype=np.int64)] = np.arange(len(terms))
    owners = np.repeat(np.arange(len(texts)), np.array([len(text) for text in texts], np.int64))
    pairs = rank[np.array(flat, dtype=np.int64)] << 32 | owners
    pairs, counts = np.unique(pairs, return_counts=True)
    return terms, pairs >> 32, pairs & 0xFFFFFFFF, np.minimum(counts, MAX_COUNT)


def bm25(found: Sequence[tuple[Any, Any]], *, rows: int, total: int) -> Any:
    """BM25 of so many rows, float64, by position.

    `found`: per term, the positions that hold it and the `saturation` of each. `total`: how many
    rows there are, with and without a term. From `SMALL_STORE` of them on, a term in more than half
    of them is left out if a rarer one is there.
    """
    weights = idfs([len(positions) for positions, _ in found], total)
    scored = [
        (positions, part * weight)
        for (positions, part), weight in zip(found, weights, strict=True)
        if weight
    ]
    if not scored:
        return np.zeros(rows)
    # Added up in this order, term by term, as a loop over the terms would.
    where, what = (np.concatenate(part) for part in zip(*scored, strict=True))
    return np.bincount(where, weights=what, minlength=rows)


def idfs(frequencies: Sequence[int], total: int) -> list[float]:
    """The weight of each term by its number of `total` rows; 0 for one that is left out."""
    rare = total >= SMALL_STORE and any(0 < 2 * f <= total for f in frequencies)
    return [
        0.0
        if not frequency or (rare and 2 * frequency > total)
        # Rounded, because the last bit of a logarithm is the machine's own.
        else round(log(1 + (total - frequency + 0.5) / (frequency + 0.5)), 9)
        for frequency in frequencies
    ]


def damping(lengths: Any, *, total: int, words: int) -> Any:
    """BM25's addition to a term's occurrences in rows of these lengths, float64."""
    return _K1 * (1 - _B + _B * (lengths * (total / words)))


def saturation(counts: Any, about: Any) -> Any:
    """A term's scores in rows that hold it so often, by its weight; `about`: their damping."""
    found = counts.astype("f8")
    below = found + about
    found *= _K1 + 1
    found /= below
    return found


_RUN = 128  # scores, of many, of which only the best is looked at first


def best_positions(scores: Any, depth: int) -> Any:
    """Positions, ascending, of the `depth` best scores and of all that tie with the last of them.

    >>> import numpy as np
    >>> best_positions(np.array([1.0, 3.0, 2.0, 2.0]), 2).tolist()
    [1, 2, 3]
    """
    return np.flatnonzero(scores >= score_threshold(scores, depth))


def best_matches(scores: Any, wanted: Any, depth: int) -> Any:
    """Positions, ascending, of the best scores above 0; `wanted`: a mask, None for all rows."""
    if wanted is not None:
        scores = np.where(wanted, scores, 0.0)
    rows = best_positions(scores, depth)
    if len(rows) and not scores[rows].all():
        return np.flatnonzero(scores)
    return rows


def score_threshold(scores: Any, depth: int) -> Any:
    """The `depth`-th best score, or the lowest of fewer."""
    if len(scores) <= depth:
        return scores.min(initial=np.inf)
    if len(scores) > 4 * _RUN * depth:
        # The best of each run: the depth-th best of those is no better than the one looked for.
        runs = np.maximum.reduceat(scores, np.arange(0, len(scores), _RUN))
        scores = scores[scores >= np.partition(runs, len(runs) - depth)[len(runs) - depth]]
    return np.partition(scores, len(scores) - depth)[len(scores) - depth]


SLICE = 1_024
"""Chunks that are read together, of which more may tie for a place than memory should hold."""


def combine_legs(
    close: Any,
    hits: Any,
    *,
    bm25: Callable[[Any], Any] | None,
    cosines: Callable[[Any], Any] | None,
    load: Callable[[Any], tuple[Sequence[Chunk], Any]],
    depth: int,
    limit: int,
    index: str,
    state_root: str,
) -> SearchResult:
    """The answer from the rows of both legs, which are numbers, ascending.

    `bm25`: those of rows, None without words. `cosines`: those of int8 vectors, None without a
    query's. `load`: the chunks of rows and their vectors, shape (rows, dimensions). `index`: what
    named the rows, empty for all of them.
    """
    rows = np.union1d(close, hits)
    lexical = (bm25(rows) if bm25 is not None else np.zeros(len(rows))).tolist()
    semantic: list[float] = []
    keys: dict[int, tuple[str, int, int, str]] = {}
    chunks: dict[int, Chunk] = {}
    for start in range(0, len(rows), SLICE):
        some = rows[start : start + SLICE]
        loaded, vectors = load(some)
        chunks = dict(zip(some.tolist(), loaded, strict=True))
        keys |= {
            row: (one.source, one.sequence, one.byte_offset or 0, one.id)
            for row, one in chunks.items()
        }
        semantic += [] if cosines is None else cosines(vectors).tolist()
    at = dict(zip(rows.tolist(), range(len(rows)), strict=True))

    def best(leg: Any, scores: Sequence[float]) -> list[int]:
        return sorted(leg.tolist(), key=lambda row: (-scores[at[row]], keys[row]))[:depth]

    ranked = [best(hits, lexical), *([best(close, semantic)] if cosines is not None else [])]
    fused = sorted(rrf(ranked), key=lambda item: (-item[1], keys[item[0]]))[:limit]
    if len(rows) > SLICE:
        shown = [row for row, _ in fused]
        chunks = dict(zip(shown, load(np.array(shown, dtype=np.int64))[0], strict=True))
    return SearchResult(
        candidates=tuple(
            Candidate(
                chunk=chunks[row],
                score=score,
                semantic_score=None if cosines is None else semantic[at[row]],
                lexical_score=lexical[at[row]] or None,
            )
            for row, score in fused
        ),
        badge="hybrid" if ranked[0] else "vector_only",
        lexical_matches=len(ranked[0]),
        exact=not index,
        index=index,
        state_root=state_root,
    )
