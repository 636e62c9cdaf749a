"""The pairs of texts that share enough word triples, found over arrays of numbers.

A triple's number is the mixed numbers of its words (`word_arrays.py`), the same in every process.
Numbers only find pairs; what drops a text compares its words. Triples of the pool are sorted, so
that equal ones are adjacent, and the pairs of each are counted. Triples that more than `FREQUENT`
texts have, as a footer's, make no pairs: a text that consists of them is in the `crowd`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from foveate.core.stages.dedup.similarity import Threshold
from foveate.core.text.word_arrays import batches, mix, read_words
from foveate.core.text.words import ALPHABET, SHINGLE_SIZE

Ints: TypeAlias = NDArray[np.int64]

FREQUENT = 64
MANY = 1 << 21  # pairs that are counted at once


class CandidatePairs(NamedTuple):
    """Texts by their places: whom each shares enough with, and those of frequent triples alone."""

    partners: dict[int, list[int]]
    crowd: set[int]


def find_candidate_pairs(texts: Sequence[str], share: Threshold) -> CandidatePairs:
    """The pairs of which the one has this share of its triples in common with the other."""
    count = len(texts)
    keyed = _distinct_triples(texts)
    owner = (keyed & np.uint64(0xFFFFFFFF)).astype(np.int64)
    first = np.diff(keyed >> np.uint64(32), prepend=np.uint64(0)) > 0
    group = np.cumsum(first) - 1 + (not first[:1].all())
    spread = np.bincount(group)[group] if len(group) else group
    least = np.array([share.least(size) for size in np.bincount(owner, minlength=count).tolist()])
    frequent = np.bincount(owner[spread > FREQUENT], minlength=count)
    asks = np.bincount(owner[spread > 1], minlength=count) >= np.maximum(least, 1)
    rare = (spread > 1) & (spread <= FREQUENT)
    partners: dict[int, list[int]] = defaultdict(list)
    if asks.any() and rare.any():
        pairs, votes = _votes(group[rare], spread[rare], owner[rare], count)
        low, high = np.divmod(pairs, count)
        need = np.maximum(least - frequent, 1)
        for one, other in ((low, high), (high, low)):
            fine = asks[one] & (votes >= need[one])
            for i, n in zip(one[fine].tolist(), other[fine].tolist(), strict=True):
                partners[i].append(n)
    crowd = np.flatnonzero(asks & (frequent >= least)).tolist()
    return CandidatePairs(partners, set(crowd))


def _distinct_triples(texts: Sequence[str]) -> NDArray[np.uint64]:
    """The upper halves of the triples' numbers with the texts' places behind, ascending."""
    found = [np.empty(0, dtype=np.uint64)]
    for start, end in batches(texts):
        numbers, counts = _triples(texts[start:end])
        owners = np.repeat(np.arange(start, end, dtype=np.uint64), counts)
        found.append(numbers >> np.uint64(32) << np.uint64(32) | owners)
    keyed = np.sort(np.concatenate(found))
    distinct: NDArray[np.uint64] = keyed[np.diff(keyed, prepend=~keyed[:1]) != 0]
    return distinct


def _triples(texts: Sequence[str]) -> tuple[NDArray[np.uint64], Ints]:
    """The triples of all texts, as `text.words.word_runs` defines them, and how many each text has.

    A text of one or two words is one run.
    """
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
    return mix(mixed + numbers[2:])[places], counts


def _votes(group: Ints, spread: Ints, owner: Ints, count: int) -> tuple[Ints, Ints]:
    """The pairs that share a triple, as numbers, and how many they share."""
    order = np.argsort(-spread, kind="stable")
    group, owner = group[order], owner[order]
    ends = len(group) - np.cumsum(np.bincount(spread, minlength=2))
    pairs, votes = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    waiting: list[Ints] = []
    for far, end in enumerate(ends[1:].tolist(), start=1):
        near = np.flatnonzero(group[far:end] == group[: max(end - far, 0)])
        one, other = owner[near], owner[near + far]
        waiting.append(np.minimum(one, other) * count + np.maximum(one, other))
        if sum(map(len, waiting)) > MANY or end <= far:
            every = np.sort(np.concatenate((np.repeat(pairs, votes), *waiting)))
            starts = np.flatnonzero(np.diff(every, prepend=-1))
            pairs, votes = every[starts], np.diff(starts, append=len(every))
            waiting.clear()
    return pairs, votes
