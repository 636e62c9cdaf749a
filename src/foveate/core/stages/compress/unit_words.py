"""The words of units as numbers: search terms, and runs of words by which a repeat is known."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from foveate.core.text.terms import ALPHABET, STEM, compound_places, split_compounds
from foveate.core.text.word_arrays import (
    BREAK,
    POWERS,
    WordArrays,
    batches,
    mix,
    read_words,
    sum_letters,
)
from foveate.core.types import PieceRuns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.text.word_arrays import Numbers

    Counts: TypeAlias = NDArray[np.int64]

GRAM = 5
"""Words; a run of that many that was said before is a repeat."""
_A, _E, _I, _O, _S, _U, _Y = map(ord, "aeiosuy")
# Odd numbers, as good as random: what a run's words are multiplied with.
FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 1)


class UnitWords(NamedTuple):
    """Units in order, as numbers.

    `terms`: of the cut terms, unit after unit, and `sizes`: how many a unit has; `words`: of the
    words, by which repeats are known, and `widths`: how many a unit has.
    """

    terms: Numbers
    sizes: Counts
    words: Numbers
    widths: Counts


def read_units(units: Sequence[str]) -> UnitWords:
    """The words of these texts of units."""
    import numpy as np

    none = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    parts = [UnitWords(*none, *none)]
    for first, last in batches(units):
        parts.append(_read_batch(units[first:last]))
    return UnitWords(*map(np.concatenate, zip(*parts, strict=True)))


def _read_batch(units: Sequence[str]) -> UnitWords:
    import numpy as np

    found = read_words(_with_parts_of_names(units), ALPHABET)
    widths = np.diff(found.firsts)
    terms = _term_numbers(found)
    if not len(found.unspaced):
        return UnitWords(terms, widths, found.numbers, widths)
    # Of two characters that make a term, each is a term, too.
    pairs = found.unspaced[found.ends[found.unspaced] - found.starts[found.unspaced] > 1]
    starts = found.starts[pairs]
    single = np.unique(np.concatenate((starts, starts + 1)))
    owners = np.repeat(np.arange(len(widths)), widths)
    alone = mix(found.codes[single].astype(np.uint64))
    whose = found.bounds.searchsorted(single, side="right") - 1
    order = np.argsort(np.concatenate((owners, whose)), kind="stable")
    sizes = widths + np.bincount(whose, minlength=len(widths))
    return UnitWords(np.concatenate((terms, alone))[order], sizes, found.numbers, widths)


def _with_parts_of_names(units: Sequence[str]) -> Sequence[str]:
    """The units with the parts of each camelCase name behind it; few have any."""
    places = [*compound_places(BREAK.join(units))]
    if not places:
        return units
    starts = [*accumulate((len(unit) + 1 for unit in units[:-1]), initial=0)]
    found = [*units]
    for n in dict.fromkeys([bisect_right(starts, at) - 1 for at in places]):
        found[n] = split_compounds(found[n])
    return found


def _term_numbers(words: WordArrays) -> Numbers:
    """The number of each word's stem, as far as it counts: `number_of(stem(word)[:STEM])`."""
    import numpy as np

    codes, starts, ends = words.codes, words.starts, words.ends
    sizes = ends - starts
    plural = np.flatnonzero((codes[ends - 1] == _S) & (sizes > 3))
    end = ends[plural]
    last, before = codes[end - 2], codes[end - 3]
    is_es = last == _E
    is_ies = is_es & (before == _I)
    third = codes[end - 4]
    vowel = (third == _A) | (third == _E)
    kept = (before == _A) | (before == _E) | (before == _O)
    cut = ~np.where(is_es, kept | is_ies, (last == _U) | (last == _S))
    sizes[plural[cut]] -= 1
    to_y = plural[is_ies & ~vowel]
    sizes[to_y] -= 2
    total = sum_letters(words.sums, starts, starts + np.minimum(sizes, STEM))
    to_y = to_y[sizes[to_y] <= STEM]
    total[to_y] += np.uint64(_Y - _I) * POWERS.first(STEM)[sizes[to_y] - 1]
    return mix(total)


def runs_of(words: Numbers, widths: Counts) -> PieceRuns:
    """The runs of words of each unit; `words` of all units, of which each has `widths`."""
    import numpy as np

    counts = np.maximum(widths - GRAM + 1, np.minimum(widths, 1))
    starts = np.cumsum(widths) - widths
    codes = np.concatenate((words, np.zeros(GRAM - 1, dtype=np.uint64)))
    runs = np.zeros(len(words), dtype=np.uint64)
    short = np.flatnonzero((widths > 0) & (widths < GRAM))
    first = starts[short]
    single = np.zeros(len(short), dtype=np.uint64)
    for n, factor in enumerate(FACTORS):
        runs += codes[n : n + len(words)] * np.uint64(factor)
        single += np.where(n < widths[short], codes[first + n], 0) * np.uint64(factor)
    runs[first] = single
    # What would begin in one unit and end in the next is not taken.
    places = np.arange(len(words)) - np.repeat(starts, widths)
    bounds = [0, *np.cumsum(counts).tolist()]
    return PieceRuns(runs[places < np.repeat(counts, widths)], bounds)


def text_runs(texts: Sequence[str]) -> PieceRuns:
    """The runs of words of each text, as one unit."""
    found = read_units(texts)
    return runs_of(found.words, found.widths)
