"""The texts of a request as one table: its units and their words in columns, read in one pass.

What there is one of for each unit is an array. Candidates come in one order (by rank), whatever
order they were given in. A term is cut to its first letters, so that "filmed" meets "film" and
German compounds meet their heads: truncation does as well as stemming over European languages
(McNamee and Mayfield 2004).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from foveate.core.json_strings import unescape
from foveate.core.renditions import shapes_of
from foveate.core.stages.compress.unit_words import UnitWords, read_units
from foveate.core.text.shapes.shape import Shape
from foveate.core.text.shapes.strings import nested_shapes
from foveate.core.text.terms import STEM, document_terms, keys, query_terms
from foveate.core.text.units import Units, units_of
from foveate.core.text.word_arrays import number_of
from foveate.core.types import Candidate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]
    Counts: TypeAlias = NDArray[np.int64]


class Passage(NamedTuple):
    """A candidate's shapes and units, where those start in the table, and the title's terms.

    `held`: bits of the terms of the query that the title holds.
    """

    candidate: Candidate
    shapes: tuple[Shape, ...]
    units: Units
    first: int
    title: tuple[str, ...]
    held: int


class Holders(NamedTuple):
    """Units that hold terms, term by term, each pair once: both as numbers, and how often."""

    terms: Counts
    units: Counts
    times: Counts


@dataclass(kw_only=True)
class Table:
    """Everything by unit number, or by passage, or by term of the query.

    `scores`: of the chunks, by number. By passage, `lengths`: how many units it has. By unit,
    `chunks`: the number of the best-scored chunk that it comes from; `inside`: the share of the
    unit that is in it, and in others of the same score; `words`: what it says.
    """

    terms: tuple[str, ...]
    passages: list[Passage]
    scores: list[float]
    units: int
    lengths: Counts
    chunks: Counts
    inside: Numbers
    words: UnitWords

    @cached_property
    def owners(self) -> Counts:
        """By unit, the number of its passage."""
        import numpy as np

        return np.repeat(np.arange(len(self.passages)), self.lengths)

    @cached_property
    def places(self) -> list[tuple[Counts, Counts]]:
        """By term of the query, the units that hold it in order, and how often each does."""
        import numpy as np

        found = self.find(self.terms)
        bounds = found.terms.searchsorted(np.arange(len(self.terms) + 1)).tolist()
        return [(found.units[a:b], found.times[a:b]) for a, b in pairwise(bounds)]

    @cached_property
    def rarity(self) -> list[float]:
        """How rare each term of the query is."""
        return [rarity(len(units), self.units) for units, _ in self.places]

    @cached_property
    def query_bits(self) -> list[int]:
        """By unit, a bit for each term of the query that it holds."""
        held = [0] * self.units
        for t, (units, _) in enumerate(self.places):
            for unit in units.tolist():
                held[unit] |= 1 << t
        return held

    def each(self, values: Sequence[float]) -> Numbers:
        """Values of the passages as values of their units."""
        import numpy as np

        return np.array(values, dtype=np.float64)[self.owners]

    def any_of(self, units: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For each passage, whether any of its units is among these."""
        import numpy as np

        return np.bincount(self.owners[units], minlength=len(self.passages)) > 0

    def find(self, terms: Sequence[str]) -> Holders:
        """The units that hold each of these terms, which are all different."""
        import numpy as np

        if not terms:
            return Holders(*np.zeros((3, 0), dtype=np.int64))
        wanted = np.array([*map(number_of, terms)], dtype=np.uint64)
        order = np.argsort(wanted)
        wanted = wanted[order]
        # Most terms differ from all of these in their first bits already.
        likely = np.zeros(1 << 16, dtype=np.bool_)
        likely[wanted >> np.uint64(48)] = True
        every, sizes = self.words.terms, self.words.sizes
        places = np.flatnonzero(likely[(every >> np.uint64(48)).view(np.int64)])
        own = every[places]
        at = np.searchsorted(wanted, own).clip(max=len(wanted) - 1)
        found = wanted[at] == own
        units = np.cumsum(sizes).searchsorted(places[found], side="right")
        both, times = np.unique(order[at[found]] * self.units + units, return_counts=True)
        return Holders(*np.divmod(both, self.units or 1), times)

    def count(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many units each of these stands."""
        import numpy as np

        every = [*dict.fromkeys(terms)]
        counts = np.bincount(self.find(every).terms, minlength=len(every)).tolist()
        return dict(zip(every, counts, strict=True))


def build_table(candidates: Sequence[Candidate], query: str, language: str) -> Table:
    """The table of candidates, best first."""
    import numpy as np

    terms = query_keys(query)
    bits = {term: 1 << t for t, term in enumerate(terms)}
    titles: dict[str, tuple[tuple[str, ...], int]] = {}
    passages: list[Passage] = []
    texts: list[str] = []
    for candidate in candidates:
        text, title = candidate.chunk.text, candidate.chunk.title
        shapes = shapes_of(candidate.chunk, candidate.parts)
        units = units_of(text, language, shapes)
        if title not in titles:
            found = title_keys(title)
            titles[title] = found, sum(bits[term] for term in found if term in bits)
        shapes = nested_shapes(shapes) if shapes else shapes
        passages.append(Passage(candidate, shapes, units, len(texts), *titles[title]))
        texts += _unit_texts(text, shapes, units)
    scores, chunks, inside = _chunks_of_units(passages)
    return Table(
        terms=terms,
        passages=passages,
        scores=scores,
        units=len(texts),
        lengths=np.array([len(p.units.spans) for p in passages], dtype=np.int64),
        chunks=np.array(chunks, dtype=np.int64),
        inside=np.array(inside, dtype=np.float64),
        words=read_units(texts),
    )


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


def _chunks_of_units(
    passages: Sequence[Passage],
) -> tuple[list[float], list[int], list[float]]:
    """The scores of all chunks; by unit the best-scored one's number, and the share that is in it.

    A unit that is in none belongs to the first of its passage.
    """
    scores, chunks, inside = list[float](), list[int](), list[float]()
    for candidate, _, units, first, *_ in passages:
        before, spans = len(scores), units.spans
        chunks += [before] * len(spans)
        inside += [1.0] * len(spans)
        if not candidate.parts:
            scores.append(candidate.score)
            continue
        starts, ends = [a for a, _ in spans], [b for _, b in spans]
        seen: set[int] = set()
        for n, part in enumerate(candidate.parts, before):
            (start, end), score = part.span, part.score
            scores.append(score)
            # the units that share a character with the part
            for u in range(bisect_right(ends, start), bisect_left(starts, end)):
                (a, b), unit = spans[u], first + u
                share = (min(b, end) - max(a, start)) / (b - a)
                if u not in seen or score > scores[chunks[unit]]:
                    chunks[unit], inside[unit] = n, share
                elif score == scores[chunks[unit]]:
                    inside[unit] = min(inside[unit] + share, 1.0)
                seen.add(u)
    return scores, chunks, inside


def rarity(holders: int, of: int) -> float:
    """BM25's inverse document frequency, never below zero."""
    return log(1 + (of - holders + 0.5) / (holders + 0.5))


def title_keys(title: str) -> tuple[str, ...]:
    """The distinct terms of a title, in order; single letters left out."""
    found = dict.fromkeys(keys(document_terms(title)))
    return tuple(key for key in found if len(key) > 1 or not key.isascii())


def query_keys(query: str) -> tuple[str, ...]:
    """The distinct terms that are asked for, cut, without stop words."""
    return tuple(dict.fromkeys(keys(query_terms(query))))


def query_words(query: str) -> tuple[str, ...]:
    """The first term that each of `query_keys` was cut from."""
    found: dict[str, str] = {}
    for term in query_terms(query):
        found.setdefault(term[:STEM], term)
    return tuple(found.values())
