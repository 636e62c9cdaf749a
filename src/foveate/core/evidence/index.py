"""The units of a text as search terms: worked out once a text, kept by content hash.

A term is cut to its first letters, so that "filmed" meets "film" and German compounds meet their
heads: truncation does as well as stemming over European languages (McNamee and Mayfield 2004).
"""

from __future__ import annotations

from array import array
from binascii import crc32
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from foveate.core.evidence.units import Units, units_of
from foveate.core.text.profile import profile
from foveate.core.text.terms import document_terms, query_terms
from foveate.core.text.words import words

STEM = 5
"""Letters of a term that count."""
GRAM = 5
"""Words; a run of that many that was said before is a repeat."""


class Index(NamedTuple):
    """A text's units: where each term stands, as (unit, times), and what else is asked of them.

    `lengths`: in terms. `runs[starts[u]:starts[u + 1]]`: unit u's runs
    of words, hashed.
    """

    units: Units
    where: Mapping[str, tuple[tuple[int, int], ...]]
    lengths: tuple[int, ...]
    runs: array[int]
    starts: tuple[int, ...]


def index_of(text: str, content_hash: str, language: str) -> Index:
    """The index of the text with this content hash."""
    kept = profile(content_hash)
    found = kept.indexes.get(language)
    if found is None:
        found = kept.indexes[language] = _indexed(text, units_of(text, language))
    return found


def _indexed(text: str, units: Units) -> Index:
    where: dict[str, list[tuple[int, int]]] = {}
    lengths, runs, starts = [], array("L"), [0]
    for u, (a, b) in enumerate(units.spans):
        unit = text[a:b]
        terms = keys(document_terms(unit))
        counts: dict[str, int] = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        for term, times in counts.items():
            where.setdefault(term, []).append((u, times))
        lengths.append(len(terms))
        runs.extend(_runs(unit))
        starts.append(len(runs))
    return Index(
        units=units,
        where={term: tuple(places) for term, places in where.items()},
        lengths=tuple(lengths),
        runs=runs,
        starts=tuple(starts),
    )


def _runs(unit: str) -> list[int]:
    """Hashes of the unit's runs of words; a shorter unit is one run."""
    spelled = [word.encode() for word in words(unit)]
    if len(spelled) <= GRAM:
        return [crc32(b" ".join(spelled))] if spelled else []
    return [crc32(b" ".join(spelled[i : i + GRAM])) for i in range(len(spelled) - GRAM + 1)]


def keys(terms: list[str]) -> list[str]:
    """The terms, cut."""
    return [term[:STEM] for term in terms]


@lru_cache(maxsize=4096)
def title_keys(title: str) -> tuple[str, ...]:
    """The distinct terms of a title, in order; single letters left out."""
    found = dict.fromkeys(keys(document_terms(title)))
    return tuple(key for key in found if len(key) > 1 or not key.isascii())


@lru_cache(maxsize=256)
def query_keys(query: str) -> tuple[str, ...]:
    """The distinct terms that are asked for, without stop words."""
    return tuple(dict.fromkeys(keys(query_terms(query))))
