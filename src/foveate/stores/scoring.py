"""BM25, the order of results, and their fusion: the same in every store.

Robertson and Zaragoza, "The probabilistic relevance framework", 2009; idf as in Lucene (never
negative); k1 = 1.2, b = 0.75.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, count
from math import log
from typing import Any, TypeAlias

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


SortKey: TypeAlias = tuple[str, int, int, str, int]
"""Source, sequence, byte offset, chunk id; the position last, which never gets to decide."""

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
    load: Callable[[Any], Iterable[Chunk]],
    depth: int,
    limit: int,
    index: str,
    state_root: str,
) -> SearchResult:
    """The answer from the rows of both legs, which are numbers, ascending.

    Chunks are read where their keys decide between equal scores, and where they are in the answer.
    `bm25`: those of rows, None without words. `cosines`: the same, None without a vector. `load`:
    the chunks of rows. `index`: what named the rows, empty for all of them.
    """
    rows = np.union1d(close, hits)
    cosine = cosines(rows) if cosines is not None else None
    lexical = bm25(rows) if bm25 is not None else np.zeros(len(rows))
    legs = [(hits, lexical[np.isin(rows, hits)])]
    if cosine is not None:
        legs.append((close, cosine[np.isin(rows, close)]))
    keys: dict[int, SortKey] = {}
    _load_keys(np.unique(np.concatenate([_tied(*leg) for leg in legs])), load, keys)
    ranked = [_rank(*leg, keys, depth) for leg in legs]
    scored = rrf(ranked)
    least = scored[:limit][-1][1] if scored else 0.0
    best = {row: score for row, score in scored if score >= least}
    chunks = _load_keys(np.sort(np.array([*best], dtype=np.int64)), load, keys)
    fused = sorted(best.items(), key=lambda item: (-item[1], keys[item[0]]))[:limit]
    if len(best) > SLICE:
        shown = np.array([row for row, _ in fused], dtype=np.int64)
        chunks = dict(zip(shown.tolist(), load(shown), strict=True))
    at = dict(zip(rows.tolist(), range(len(rows)), strict=True))
    return SearchResult(
        candidates=tuple(
            Candidate(
                chunk=chunks[row],
                score=score,
                semantic_score=None if cosine is None else float(cosine[at[row]]),
                lexical_score=float(lexical[at[row]]) or None,
            )
            for row, score in fused
        ),
        badge="hybrid" if ranked[0] else "vector_only",
        lexical_matches=len(ranked[0]),
        exact=not index,
        index=index,
        state_root=state_root,
    )


def _tied(rows: Any, scores: Any) -> Any:
    """The rows that have a score in common with another."""
    _, back, many = np.unique(scores, return_inverse=True, return_counts=True)
    return rows[many[back] > 1]


def _rank(rows: Any, scores: Any, keys: Mapping[int, SortKey], depth: int) -> list[int]:
    """The `depth` best rows; `keys`: of those that tie."""
    scored = zip((-scores).tolist(), rows.tolist(), strict=True)
    first = sorted((score, keys.get(row, ()), row) for score, row in scored)
    return [row for *_, row in first[:depth]]


def _load_keys(
    rows: Any, load: Callable[[Any], Iterable[Chunk]], keys: dict[int, SortKey]
) -> dict[int, Chunk]:
    """Add the keys of rows, of which more may tie than memory should hold; the last chunks."""
    chunks: dict[int, Chunk] = {}
    for start in range(0, len(rows), SLICE):
        some = rows[start : start + SLICE]
        chunks = dict(zip(some.tolist(), load(some), strict=True))
        keys |= {
            row: (chunk.source, chunk.sequence, chunk.byte_offset or 0, chunk.id, row)
            for row, chunk in chunks.items()
        }
    return chunks
