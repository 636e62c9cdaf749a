"""Identifiers that a query names, and the records, rows and lines that hold them (SPEC U2).

An identifier is a word with a digit in it and something else: letters, or marks between its parts;
or a number of some length. It is found as it stands, letter by letter, capitals apart: half of one
does not count, so that `ORD-204` is not found in `ORD-2041`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from foveate.core.stages.compress.unit_pool import Passage, Pool

if TYPE_CHECKING:
    from foveate.core.stages.compress.unit_pool import Numbers

GAIN = 40.0
"""Log-odds of a unit that holds one: more than all else that speaks for a unit together."""
COMMON = 0.2
"""An identifier in that share of all units, and in more than `FEW`, names none of them."""
FEW = 8
LONG_NUMBER = 5
"""Digits of a number that is an identifier wherever it stands; a shorter one may be a quantity."""
SHORTEST_NUMBER = 3
FEWEST_PLACES = 2
"""A shorter number is an identifier if no more units than that hold it."""

_WORD = re.compile(r"\w(?:[\w.:/@#+~-]*\w)?")
_DIGIT = re.compile(r"\d")


def query_identifiers(query: str) -> tuple[str, ...]:
    """The identifiers that the query names, in order.

    >>> query_identifiers("Is ORD-2041, or tx_9f3a, on 10.0.4.7 since 3 May?")
    ('ORD-2041', 'tx_9f3a', '10.0.4.7')
    """
    return tuple(dict.fromkeys(word for word in _WORD.findall(query) if _is_identifier(word)))


def _is_identifier(word: str) -> bool:
    if not _DIGIT.search(word):
        return "_" in word.strip("_")
    return len(word) >= SHORTEST_NUMBER


def identifier_pattern(identifiers: Sequence[str]) -> re.Pattern[str]:
    """Finds any of them where it stands whole."""
    words = "|".join(map(re.escape, sorted(identifiers, key=len, reverse=True)))
    return re.compile(rf"(?<!\w)(?<!\w[._-])(?:{words})(?!\w)(?![-_]\w|\.\d)", re.IGNORECASE)


def identified(pool: Pool, query: str) -> Numbers:
    """By unit, the log-odds it gains for each identifier it holds; prose gains nothing."""
    import numpy as np

    gain = np.zeros(pool.units)
    for word in query_identifiers(query):
        units = sorted({unit for passage in pool.passages for unit in _holders(passage, word)})
        few = FEW
        if word.isdecimal() and len(word) < LONG_NUMBER:
            few = FEWEST_PLACES
        if len(units) <= max(few, COMMON * pool.units if few == FEW else 0):
            gain[units] += GAIN
    return gain


def _holders(passage: Passage, word: str) -> list[int]:
    """The passage's units, as numbers of the pool, that hold the word and are no prose."""
    text = passage.candidate.chunk.text
    if word not in text and word.casefold() not in text.casefold():
        return []
    units = passage.units
    starts = [a for a, _ in units.spans]
    sentences = [(a, b) for a, b, kind in units.prose if kind == "paragraph"]
    openings = [a for a, _ in sentences]
    found = []
    for match in identifier_pattern([word]).finditer(text):
        at = match.start()
        prose = bisect_right(openings, at) - 1
        if prose < 0 or at >= sentences[prose][1]:
            found.append(passage.first + max(bisect_right(starts, at) - 1, 0))
    return found
