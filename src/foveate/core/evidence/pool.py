"""The units of all candidates beside one another, numbered through, and what they hold of a query.

The words asked for are bits of a number, so that what several units hold together is one `|`.
Candidates come in one order (by rank), whatever order they were given in.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import frexp, fsum, ldexp, log, sqrt
from typing import NamedTuple

from foveate.core.evidence.index import Index, index_of, query_keys, title_keys
from foveate.core.types import Candidate

K1, B = 1.2, 0.75  # BM25 (Robertson and Zaragoza 2009)


class Passage(NamedTuple):
    """A candidate's units: `indexed`, where they start in the pool, and the title's terms.

    `held`: bits of the terms that the title holds. `parts[u]`: the number of the best-scored
    chunk that unit u comes from.
    """

    candidate: Candidate
    indexed: Index
    first: int
    title: tuple[str, ...]
    held: int
    parts: tuple[int, ...]


@dataclass(slots=True)
class Pool:
    """Everything by unit number, or by passage, or by term of the query."""

    terms: tuple[str, ...]
    passages: list[Passage] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)  # of chunks, by number
    units: int = 0
    held: list[int] = field(default_factory=list)  # by unit: bits of the terms it holds
    bm25: list[float] = field(default_factory=list)
    rarity: list[float] = field(default_factory=list)  # by term
    _shares: dict[int, float] = field(default_factory=dict)
    holders: dict[str, int] = field(default_factory=dict)  # units in which a counted term stands

    def share(self, held: int) -> float:
        """How much of the query these bits are, the rarer terms more; 0 to 1."""
        found = self._shares.get(held)
        if found is None:
            total = sum(self.rarity) or 1.0
            some = [r for t, r in enumerate(self.rarity) if held >> t & 1]
            found = self._shares[held] = sum(some) / total
        return found

    def count(self, terms: Iterable[str]) -> None:
        """Count the holders of all these, in one pass over the texts."""
        new = dict.fromkeys([term for term in terms if term not in self.holders], 0)
        for p in self.passages:
            where = p.indexed.where
            for term in new.keys() & where.keys():
                new[term] += len(where[term])
        self.holders |= new


def pool_of(candidates: Sequence[Candidate], query: str, language: str) -> Pool:
    """The pool of candidates, best first."""
    pool = Pool(query_keys(query))
    bits = {term: 1 << t for t, term in enumerate(pool.terms)}
    titles: dict[str, tuple[tuple[str, ...], int]] = {}
    for candidate in candidates:
        chunk = candidate.chunk
        index = index_of(chunk.text, chunk.content_hash, language)
        if chunk.title not in titles:
            terms = title_keys(chunk.title)
            titles[chunk.title] = terms, sum(bits[term] for term in terms if term in bits)
        title, held = titles[chunk.title]
        parts = _parts(pool, candidate, index)
        pool.passages.append(Passage(candidate, index, pool.units, title, held, parts))
        pool.units += len(index.lengths)
    _match(pool)
    return pool


def _parts(pool: Pool, candidate: Candidate, index: Index) -> tuple[int, ...]:
    """Number the candidate's chunks; for each unit the best-scored one it comes from."""
    spans = index.units.spans
    if not candidate.parts:
        pool.scores.append(candidate.score)
        return (len(pool.scores) - 1,) * len(spans)
    starts, ends = [a for a, _ in spans], [b for _, b in spans]
    best: list[int] = [-1] * len(spans)
    before = len(pool.scores)
    for number, part in enumerate(candidate.parts, before):
        (start, end), score = part.span, part.score
        pool.scores.append(score)
        # the units that share a character with the part
        for u in range(bisect_right(ends, start), bisect_left(starts, end)):
            if best[u] < 0 or score > pool.scores[best[u]]:
                best[u] = number
    return tuple([before if b < 0 else b for b in best])


def _match(pool: Pool) -> None:
    """Which unit holds which terms, how rare they are, and BM25 over units."""
    n = pool.units
    lengths = [length for p in pool.passages for length in p.indexed.lengths]
    mean = sum(lengths) / n if n else 1.0
    pool.held = [0] * n
    pool.bm25 = [0.0] * n
    for t, term in enumerate(pool.terms):
        places = [
            (p.first + u, times)
            for p in pool.passages
            if term in p.indexed.where
            for u, times in p.indexed.where[term]
        ]
        pool.holders[term] = len(places)
        rare = rarity(len(places), n)
        pool.rarity.append(rare)
        for u, times in places:
            pool.held[u] |= 1 << t
            pool.bm25[u] += rare * saturated(times, lengths[u], mean)


def saturated(times: int, length: int, mean: float) -> float:
    """BM25's term frequency: grows ever less, and less in a longer text."""
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length / (mean or 1.0)))


def rarity(holders: int, of: int) -> float:
    """BM25's inverse document frequency, never below zero."""
    return log(1 + (of - holders + 0.5) / (holders + 0.5))


def standard(values: Sequence[float]) -> list[float]:
    """How many standard deviations each value is from the mean; 0 where all are alike."""
    n = len(values)
    most = max(map(abs, values), default=0.0)
    if not most:
        return [0.0] * n
    power = -frexp(most)[1]
    values = [ldexp(value, power) for value in values]  # so that no square is too large
    mean = fsum(values) / n
    spread = sqrt(fsum([(v - mean) ** 2 for v in values]) / n)
    if spread <= 1e-12:
        return [0.0] * n
    return [(v - mean) / spread for v in values]
