"""The units of a text as search terms: worked out once a text, kept by content hash.

A term is cut to its first letters, so that "filmed" meets "film" and German compounds meet their
heads: truncation does as well as stemming over European languages (McNamee and Mayfield 2004).

Terms and words are numbers here, so that a pool of a thousand units is a few arrays. A cut term of
ASCII letters and digits is spelled out in its number; any other is hashed beyond those.
"""

from __future__ import annotations

from array import array
from binascii import crc32
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import log
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from foveate.core.bounded_cache import BoundedCache
from foveate.core.stages.compress.units import Units
from foveate.core.text.terms import document_terms, index_words, query_terms, word_terms
from foveate.core.text.words import REMEMBERED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.types import Runs

    Numbers: TypeAlias = NDArray[np.uint32]

STEM = 5
"""Letters of a term that count."""
GRAM = 5
"""Words; a run of that many that was said before is a repeat."""
COMMON = 0.2
"""A word in that share of all units, or more, is common."""
HASHED = 1 << 31  # numbers from here on are hashes; the spelled ones take 30 bits
DIGITS = {letter: n for n, letter in enumerate("abcdefghijklmnopqrstuvwxyz0123456789", 1)}
_TITLES: BoundedCache[str, tuple[str, ...]] = BoundedCache(3_000_000)
_QUERIES: BoundedCache[str, tuple[str, ...]] = BoundedCache(1_000_000)
# Odd numbers, as good as random: what a run's words are multiplied with.
FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 1)


class Index(NamedTuple):
    """A text's units as numbers, unit after unit.

    `terms`: of the cut terms; `lengths`: how many a unit has. `words`: of the words, by which
    repeats are known, at least `GRAM` of them in a unit that has any; `widths`: how many a unit
    has. `sizes`: log of characters.
    """

    units: Units
    terms: Numbers
    lengths: tuple[int, ...]
    words: Numbers
    widths: tuple[int, ...]
    sizes: tuple[float, ...]


def build_index(text: str, units: Units) -> Index:
    """The index of a text with these units, worked out."""
    terms, words = array("I"), array("I")
    lengths, widths = [], []
    for a, b in units.spans:
        before = len(terms), len(words)
        for own_terms, own_words in map(_numbers, index_words(text[a:b])):
            terms.frombytes(own_terms)
            words.frombytes(own_words)
        lengths.append(len(terms) - before[0])
        if 0 < len(words) - before[1] < GRAM:
            words.extend([0] * (before[1] + GRAM - len(words)))
        widths.append(len(words) - before[1])
    return index_from_arrays(units, numbers(terms), lengths, numbers(words), widths)


def index_from_arrays(
    units: Units, terms: Numbers, lengths: Iterable[int], words: Numbers, widths: Iterable[int]
) -> Index:
    """An index of what is known."""
    sizes = tuple([log(b - a or 1) for a, b in units.spans])
    return Index(units, terms, tuple(lengths), words, tuple(widths), sizes)


def numbers(found: Sequence[int]) -> Numbers:
    """As an array."""
    import numpy as np

    return np.array(found, dtype=np.uint32)


@lru_cache(maxsize=REMEMBERED)
def _numbers(word: str) -> tuple[bytes, bytes]:
    """A word's terms, and its number; one for each character of a word without spaces.

    Four bytes a number, so that a run of Chinese takes hardly more room than a word of English.
    """
    terms = word_terms(word)
    single = terms if len(terms) == 1 else tuple(word)
    own = array("I", map(number, terms)), array("I", [crc32(part.encode()) for part in single])
    return own[0].tobytes(), own[1].tobytes()


def number(term: str) -> int:
    """The number of a term as it is cut: the same for two only where they are, or by chance.

    >>> number("filming") == number("filminator"), number("filming") == number("filmed")
    (True, False)
    """
    found = 0
    for letter in term[:STEM]:
        digit = DIGITS.get(letter)
        if digit is None:
            return HASHED | crc32(term[:STEM].encode())
        found = found << 6 | digit
    return found


def runs_of(words: Numbers, widths: Iterable[int]) -> list[Runs]:
    """For each unit its runs of words, as numbers; none where it has no words."""
    import numpy as np

    codes = words.astype(np.uint64)
    count = max(len(codes) - GRAM + 1, 0)
    runs = np.zeros(count, dtype=np.uint64)
    for n, factor in enumerate(FACTORS):
        runs += codes[n : n + count] * np.uint64(factor)
    ends = [0, *accumulate(widths)]
    # What would begin in one unit and end in the next is not taken.
    return [runs[a : max(b - GRAM + 1, a)] for a, b in pairwise(ends)]


def text_runs(texts: Sequence[str]) -> list[Runs]:
    """The runs of words of each text, as one unit."""
    whole = "".join(texts)
    ends = [0, *accumulate(map(len, texts))]
    spans = tuple(pairwise(ends))
    index = build_index(whole, Units(spans, tuple(range(len(spans)))))
    return runs_of(index.words, index.widths)


def keys(terms: list[str]) -> list[str]:
    """The terms, cut."""
    return [term[:STEM] for term in terms]


def title_keys(title: str) -> tuple[str, ...]:
    """The distinct terms of a title, in order; single letters left out."""
    known = _TITLES.get(title)
    if known is None:
        found = dict.fromkeys(keys(document_terms(title)))
        known = tuple(key for key in found if len(key) > 1 or not key.isascii())
        _TITLES.put(title, known)
    return known


def query_keys(query: str) -> tuple[str, ...]:
    """The distinct terms that are asked for, without stop words."""
    known = _QUERIES.get(query)
    if known is None:
        known = tuple(dict.fromkeys(keys(query_terms(query))))
        _QUERIES.put(query, known)
    return known
