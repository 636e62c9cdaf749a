"""The records, rows and lines that hold an identifier which the query names (SPEC U2)."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from foveate.core.stages.compress.unit_pool import Passage, Pool
from foveate.core.text.identifiers import identifier_pattern, query_identifiers

if TYPE_CHECKING:
    from foveate.core.stages.compress.unit_pool import Numbers

GAIN = 40.0
"""Log-odds of a unit that holds one: more than all else that speaks for a unit together."""
FIRST_GAIN = 40.0
"""What a unit gains beside that if it begins with it: a record stands under its own identifier."""
COMMON = 0.2
"""An identifier in that share of all units, and in more than `FEW`, names none of them."""
FEW = 8
LONG_NUMBER = 5
"""Digits of a number that is an identifier wherever it stands; a shorter one may be a quantity."""
FEWEST_PLACES = 1
"""A shorter number is an identifier if no more units than that hold it."""
_BEFORE_FIRST = re.compile(
    r"""[\s|,;{\[("'-]*+(?:<[^<>]*+>\s*+)*+(?:["']?[\w -]{1,40}["']?\s*+[:=]\s*+)?["']?"""
)
"""What may stand before the first value of a record: marks, tags, and the name of the field."""


def identified(pool: Pool, query: str) -> Numbers:
    """By unit, the log-odds it gains for each identifier it holds; prose gains nothing."""
    import numpy as np

    gain = np.zeros(pool.units)
    for word in query_identifiers(query):
        holders = [one for passage in pool.passages for one in _holders(passage, word)]
        few = FEW
        if word.isdecimal() and len(word) < LONG_NUMBER:
            few = FEWEST_PLACES
        most = max(few, COMMON * pool.units if few == FEW else 0)
        under_it = {unit for unit, is_first in holders if is_first}
        for units, more in (({unit for unit, _ in holders}, GAIN), (under_it, FIRST_GAIN)):
            if len(units) <= most:
                gain[list(units)] += more
    return gain


def _holders(passage: Passage, word: str) -> list[tuple[int, bool]]:
    """The passage's units, as numbers of the pool, that hold the word and are no prose.

    With each, whether it begins with the word.
    """
    text = passage.candidate.chunk.text
    if word not in text and word.casefold() not in text.casefold():
        return []
    units = passage.units
    starts = [a for a, _ in units.spans]
    sentences = list(units.prose)
    if passage.candidate.chunk.row is not None:
        sentences = []  # the row of a table that was written out as a sentence
    openings = [a for a, _ in sentences]
    found: list[tuple[int, bool]] = []
    for match in identifier_pattern([word]).finditer(text):
        at = match.start()
        prose = bisect_right(openings, at) - 1
        if prose < 0 or at >= sentences[prose][1]:
            place = max(bisect_right(starts, at) - 1, 0)
            unit = passage.first + place
            if not found or found[-1][0] != unit:  # only the first in a unit can begin it
                is_first = _BEFORE_FIRST.fullmatch(text, starts[place], at) is not None
                found.append((unit, is_first))
    return found
