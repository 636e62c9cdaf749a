"""The units of all candidates beside one another, numbered through, and what they hold of a query.

What there is one of for each unit is an array. Candidates come in one order (by rank), whatever
order they were given in.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import frexp, fsum, log, sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from foveate.core.json_strings import unescape
from foveate.core.renditions import shapes_of
from foveate.core.stages.compress.unit_index import UnitIndex, index_units, query_keys, title_keys
from foveate.core.text.shapes.shape import Shape
from foveate.core.text.shapes.strings import nested_shapes
from foveate.core.text.units import Units, units_of
from foveate.core.text.word_arrays import number_of
from foveate.core.types import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]
    Counts: TypeAlias = NDArray[np.int64]

K1, B = 1.2, 0.75  # BM25 (Robertson and Zaragoza 2009)


class Passage(NamedTuple):
    """A candidate's shapes and units, where those start in the pool, and the title's terms.

    `held`: bits of the terms that the title holds. `parts[u]`: the number of the best-scored
    chunk that unit u comes from; `inside[u]`: the share of the unit that is in it,
    and in others of the same score.
    """

    candidate: Candidate
    shapes: tuple[Shape, ...]
    units: Units
    first: int
    title: tuple[str, ...]
    held: int
    parts: tuple[int, ...]
    inside: tuple[float, ...]


@dataclass(slots=True, kw_only=True)
class Pool:
    """Everything by unit number, or by passage, or by term of the query.

    `lengths`: by passage, how many units it has. `scores`: of the chunks, by number. `index`: of
    the units; `owners`: the unit of each of its terms. `places`: by term of the query, the units
    that hold it and how often. `holders`: in how many units a counted term stands.
    """

    terms: tuple[str, ...]
    passages: list[Passage]
    scores: list[float]
    units: int
    lengths: Counts
    index: UnitIndex
    owners: Counts
    places: list[tuple[Counts, Counts]] = field(default_factory=list)
    rarity: list[float] = field(default_factory=list)
    holders: dict[str, int] = field(default_factory=dict)

    def each(self, values: Sequence[float]) -> Numbers:
        """Values of the passages as values of their units."""
        import numpy as np

        return np.repeat(np.array(values, dtype=np.float64), self.lengths)

    def by_passage(self, units: NDArray[np.bool_]) -> list[bool]:
        """For each passage, whether any of its units is among these."""
        import numpy as np

        owners = np.repeat(np.arange(len(self.passages)), self.lengths)
        found: list[bool] = (np.bincount(owners[units], minlength=len(self.passages)) > 0).tolist()
        return found

    def units_with(self, term: str) -> tuple[Counts, Counts]:
        """The units that hold the term, in order, and how often each does."""
        import numpy as np

        units = self.owners[np.flatnonzero(self.index.terms == np.uint64(number_of(term)))]
        return np.unique(units, return_counts=True)

    def count(self, terms: Iterable[str]) -> None:
        """Count the units that hold each of these, in one pass over the texts."""
        import numpy as np

        new = {term: number_of(term) for term in terms if term not in self.holders}
        if not new:
            return
        wanted = np.array(sorted(set(new.values())), dtype=np.uint64)
        # Most terms differ from all of these in their first bits already.
        likely = np.zeros(1 << 16, dtype=np.bool_)
        likely[wanted >> np.uint64(48)] = True
        places = np.flatnonzero(likely[(self.index.terms >> np.uint64(48)).view(np.int64)])
        own = self.index.terms[places]
        at = np.searchsorted(wanted, own).clip(max=len(wanted) - 1)
        found = wanted[at] == own
        # Terms stand unit after unit, so one that a unit holds twice is here twice.
        both = np.unique(at[found] * self.units + self.owners[places[found]])
        counts = np.bincount(both // (self.units or 1), minlength=len(wanted)).tolist()
        times = dict(zip(wanted.tolist(), counts, strict=True))
        self.holders |= {term: times[number] for term, number in new.items()}


def pool_of(candidates: Sequence[Candidate], query: str, language: str) -> Pool:
    """The pool of candidates, best first."""
    import numpy as np

    terms = query_keys(query)
    bits = {term: 1 << t for t, term in enumerate(terms)}
    titles: dict[str, tuple[tuple[str, ...], int]] = {}
    passages: list[Passage] = []
    scores: list[float] = []
    texts: list[str] = []
    for candidate in candidates:
        text, title = candidate.chunk.text, candidate.chunk.title
        shapes = shapes_of(candidate.chunk, candidate.parts)
        units = units_of(text, language, shapes)
        if title not in titles:
            found = title_keys(title)
            titles[title] = found, sum(bits[term] for term in found if term in bits)
        parts = _parts(scores, candidate, units)
        shapes = nested_shapes(shapes)
        passages.append(Passage(candidate, shapes, units, len(texts), *titles[title], *parts))
        texts += _unit_texts(text, shapes, units)
    index = index_units(texts)
    pool = Pool(
        terms=terms,
        passages=passages,
        scores=scores,
        units=len(texts),
        lengths=np.array([len(p.units.spans) for p in passages], dtype=np.int64),
        index=index,
        owners=np.repeat(np.arange(len(texts)), index.sizes),
    )
    _match(pool)
    return pool


def _unit_texts(text: str, shapes: Sequence[Shape], units: Units) -> Iterable[str]:
    """What each unit says: strings of JSON without their escapes, those of JSON in JSON too."""
    texts = [text[a:b] for a, b in units.spans]
    if "\\" in text:
        for shape in shapes:
            if shape.name.startswith("json"):
                first = bisect_left(units.spans, shape.spans[0])
                for n in range(first, first + len(shape.spans)):
                    texts[n] = unescape(texts[n])
    return texts


def _parts(
    scores: list[float], candidate: Candidate, units: Units
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Number the candidate's chunks; by unit the best-scored one, and the share that is in it."""
    spans = units.spans
    if not candidate.parts:
        scores.append(candidate.score)
        return (len(scores) - 1,) * len(spans), (1.0,) * len(spans)
    starts, ends = [a for a, _ in spans], [b for _, b in spans]
    best: list[int] = [-1] * len(spans)
    inside = [1.0] * len(spans)
    before = len(scores)
    for n, part in enumerate(candidate.parts, before):
        (start, end), score = part.span, part.score
        scores.append(score)
        # the units that share a character with the part
        for u in range(bisect_right(ends, start), bisect_left(starts, end)):
            a, b = spans[u]
            share = (min(b, end) - max(a, start)) / (b - a)
            if best[u] < 0 or score > scores[best[u]]:
                best[u], inside[u] = n, share
            elif score == scores[best[u]]:
                inside[u] = min(inside[u] + share, 1.0)
    return tuple([before if b < 0 else b for b in best]), tuple(inside)


def _match(pool: Pool) -> None:
    """Which units hold which terms, and how rare the terms are."""
    for term in pool.terms:
        units, times = pool.units_with(term)
        pool.places.append((units, times))
        pool.holders[term] = len(units)
        pool.rarity.append(rarity(len(units), pool.units))


def bm25(pool: Pool) -> Numbers:
    """BM25 of every unit (Robertson and Zaragoza 2009)."""
    import numpy as np

    lengths = pool.index.sizes
    mean = lengths.sum() / (pool.units or 1) or 1.0
    scores = np.zeros(pool.units)
    for (units, times), rare in zip(pool.places, pool.rarity, strict=True):
        # grows ever less with how often it is there, and less in a longer text
        often = times * (K1 + 1) / (times + K1 * (1 - B + B * lengths[units] / mean))
        scores[units] += rare * often
    return scores


def rarity(holders: int, of: int) -> float:
    """BM25's inverse document frequency, never below zero."""
    return log(1 + (of - holders + 0.5) / (holders + 0.5))


def standard(values: Sequence[float] | Numbers) -> Numbers:
    """How many standard deviations each value is from the mean; 0 where all are alike."""
    import numpy as np

    found = np.asarray(values, dtype=np.float64)
    n = len(found)
    most = float(np.abs(found).max(initial=0.0))
    if not most:
        return np.zeros(n)
    found = np.ldexp(found, -frexp(most)[1])  # so that no square is too large
    away = found - fsum(found.tolist()) / n
    spread = sqrt(fsum((away * away).tolist()) / n)
    if spread <= 1e-12:
        return np.zeros(n)
    return away / spread
