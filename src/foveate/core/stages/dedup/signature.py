"""The word triples of a pool as numbers.

A triple's number is the mixed numbers of its words (`word_arrays.py`): the same in every process. A
signature keeps the upper 32 bits; a collision can move a similarity, but the guard compares the
words themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from foveate.core.text.word_arrays import batches, mix, read_words
from foveate.core.text.words import ALPHABET, SHINGLE_SIZE, split_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.stages.dedup.resolve_duplicates import Threshold

    Numbers: TypeAlias = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Signature:
    """A text's word triples.

    `runs`: their 64-bit numbers in reading order; `whole`: the upper halves of the distinct ones,
    ascending; `length`: of the text, in words. A text with `least` of the triples holds enough.
    """

    runs: NDArray[np.uint64]
    whole: Numbers
    length: int
    least: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShingledText:
    """A text's words, and its triples in reading order, by 64-bit numbers.

    `runs[p]` starts at word p; `alone[p]`: it occurs once. `whole`: the distinct ones, ascending;
    `places`: their first places, `once` the same for those that occur once, else -1.
    """

    words: tuple[str, ...]
    runs: NDArray[np.uint64]
    alone: NDArray[np.bool_]
    whole: NDArray[np.uint64]
    places: NDArray[np.int64]
    once: NDArray[np.int64]


def compute_signatures(texts: Sequence[str], threshold: Threshold) -> list[Signature]:
    """The signature of each text for the threshold."""
    found: list[Signature] = []
    for first, last in batches(texts):
        found += _sign_batch(texts[first:last], threshold)
    return found


def _sign_batch(texts: Sequence[str], threshold: Threshold) -> list[Signature]:
    import numpy as np

    runs, counts, lengths = _triples(texts)
    owners = np.repeat(np.arange(len(texts), dtype=np.uint64), counts)
    keyed = np.sort(owners << np.uint64(32) | runs >> np.uint64(32))
    fresh = np.ones(len(keyed), dtype=np.bool_)
    fresh[1:] = keyed[1:] != keyed[:-1]
    keyed = keyed[fresh]
    owners, whole = keyed >> np.uint64(32), keyed.astype(np.uint32)
    firsts = np.concatenate(([0], np.cumsum(counts))).tolist()
    ends = owners.searchsorted(np.arange(len(texts) + 1, dtype=np.uint64)).tolist()
    return [
        Signature(
            runs=runs[firsts[n] : firsts[n + 1]],
            whole=(own := whole[ends[n] : ends[n + 1]]),
            length=lengths[n],
            least=threshold.least(len(own)),
        )
        for n in range(len(texts))
    ]


def shingled_text(text: str, runs: NDArray[np.uint64] | None = None) -> ShingledText:
    """The text's words and triples in order; `runs`: the triples, if they are known."""
    import numpy as np

    runs = _triples([text])[0] if runs is None else runs
    order = np.argsort(runs, kind="stable")
    whole = runs[order]
    fresh = np.ones(len(whole) + 1, dtype=bool)
    fresh[1:-1] = whole[1:] != whole[:-1]
    alone = np.empty(len(runs), dtype=bool)
    alone[order] = fresh[1:] & fresh[:-1]
    places = order[fresh[:-1]]
    whole, once = whole[fresh[:-1]], np.where(alone[places], places, -1)
    return ShingledText(
        words=split_words(text), runs=runs, alone=alone, whole=whole, places=places, once=once
    )


def _triples(texts: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64], list[int]]:
    """The triples of all texts, as `text.shingles` defines them; by text how many; and its words.

    A text of one or two words is one run.
    """
    import numpy as np

    found = read_words(texts, ALPHABET)
    lengths = np.diff(found.firsts)
    counts = np.maximum(lengths - SHINGLE_SIZE + 1, np.minimum(lengths, 1))
    # Zeros behind each text, so that no triple goes on in the next, and a short text is one run.
    behind = SHINGLE_SIZE - 1
    numbers = np.insert(found.numbers, np.repeat(found.firsts[1:], behind), np.uint64(0))
    firsts = found.firsts[:-1] + behind * np.arange(len(texts))
    places = np.arange(int(counts.sum())) + np.repeat(firsts - np.cumsum(counts) + counts, counts)
    mixed = mix(numbers[:-2])
    mixed = mix(mixed + numbers[1:-1])
    return mix(mixed + numbers[2:])[places], counts, lengths.tolist()
