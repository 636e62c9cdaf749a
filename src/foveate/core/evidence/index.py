"""The units of a text as search terms: worked out once a text, kept by content hash.

A term is cut to its first letters, so that "filmed" meets "film" and German compounds meet their
heads: truncation does as well as stemming over European languages (McNamee and Mayfield 2004).
"""

from __future__ import annotations

from array import array
from binascii import crc32
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from foveate.core.evidence.units import Units, units_of
from foveate.core.text.profile import profile
from foveate.core.text.sanitise import SHORT
from foveate.core.text.terms import document_terms, index_words, query_terms, terms_of

STEM = 5
"""Letters of a term that count."""
GRAM = 5
"""Words; a run of that many that was said before is a repeat."""
COMMON = 0.2
"""A word in that share of all units, or more, is common."""
PRIME = (1 << 61) - 1
P1, P2, P3, P4 = 1_000_003**4 % PRIME, 1_000_003**3, 1_000_003**2, 1_000_003


class Index(NamedTuple):
    """A text's units: where each term stands, as (unit, times), and what else is asked of them.

    `lengths`: in terms. `runs`: each unit's runs of words, hashed. `sizes`: log of characters.
    `usual`: the terms that are common in this text.
    """

    units: Units
    where: Mapping[str, tuple[tuple[int, int], ...]]
    lengths: tuple[int, ...]
    runs: tuple[array[int], ...]
    sizes: tuple[float, ...]
    usual: frozenset[str]


def index_of(text: str, content_hash: str, language: str) -> Index:
    """The index of the text with this content hash."""
    kept = profile(content_hash)
    found = kept.indexes.get(language)
    if found is None:
        found = kept.indexes[language] = _indexed(text, units_of(text, language))
    return found


def _indexed(text: str, units: Units) -> Index:
    where: dict[str, list[tuple[int, int]]] = {}
    lengths, runs = [], []
    for u, (a, b) in enumerate(units.spans):
        spelled = index_words(text[a:b])
        terms = [key for word in spelled for key in _keys(word)]
        for term, times in Counter(terms).items():
            where.setdefault(term, []).append((u, times))
        lengths.append(len(terms))
        runs.append(array("Q", _runs(spelled)))
    few = COMMON * len(lengths)
    return Index(
        units=units,
        where={term: tuple(places) for term, places in where.items()},
        lengths=tuple(lengths),
        runs=tuple(runs),
        sizes=tuple([log(b - a or 1) for a, b in units.spans]),
        usual=frozenset([term for term, places in where.items() if len(places) >= few]),
    )


def runs_of(text: str) -> Sequence[int]:
    """The runs of words of one unit, as numbers."""
    return _runs(index_words(text))


@lru_cache(maxsize=1 << 16)
def _keys(word: str) -> tuple[str, ...]:
    return tuple(term[:STEM] for term in terms_of(word))


def _runs(spelled: list[str]) -> list[int]:
    """Hashes of the runs of words (of characters, where none are spaced); fewer are one run."""
    codes = [code for word in spelled for code in _codes(word)]
    if len(codes) <= GRAM:
        codes += [0] * (GRAM - len(codes)) if codes else []
    columns = [codes[i : len(codes) - GRAM + 1 + i] for i in range(GRAM)]
    return [
        (a * P1 + b * P2 + c * P3 + d * P4 + e) % PRIME
        for a, b, c, d, e in zip(*columns, strict=True)
    ]


@lru_cache(maxsize=1 << 16)
def _codes(word: str) -> tuple[int, ...]:
    """A number for the word; for each character of a word without spaces."""
    terms = terms_of(word)
    single = terms if len(terms) == 1 else tuple(word)
    return tuple(crc32(term.encode()) for term in single)


def keys(terms: list[str]) -> list[str]:
    """The terms, cut."""
    return [term[:STEM] for term in terms]


def title_keys(title: str) -> tuple[str, ...]:
    """The distinct terms of a title, in order; single letters left out."""
    return _title_keys(title) if len(title) <= SHORT else _title_keys.__wrapped__(title)


@lru_cache(maxsize=4096)
def _title_keys(title: str) -> tuple[str, ...]:
    found = dict.fromkeys(keys(document_terms(title)))
    return tuple(key for key in found if len(key) > 1 or not key.isascii())


def query_keys(query: str) -> tuple[str, ...]:
    """The distinct terms that are asked for, without stop words."""
    return _query_keys(query) if len(query) <= SHORT else _query_keys.__wrapped__(query)


@lru_cache(maxsize=256)
def _query_keys(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(keys(query_terms(query))))
