"""The word triples of a pool as numbers, and the pairs of texts that share enough of them.

A triple's number is the mixed numbers of its words (`word_arrays.py`): the same in every process. A
signature keeps the upper 32 bits; a collision can move a similarity, but the guard compares the
words themselves. No pair of which one may contain enough of the other's triples is missing:

1. The texts' triples are concatenated and sorted, so equal ones are adjacent.
2. A text asks for partners if it shares so many triples that one could hold enough.
3. Pairs of a triple that more than `FREQUENT` texts have are not listed. A text with too few other
   triples is handled by `FrequentShingles`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from foveate.core.stages.dedup.resolve_duplicates import Threshold
from foveate.core.text.word_arrays import batches, mix, read_words
from foveate.core.text.words import ALPHABET, SHINGLE_SIZE, split_words

Numbers: TypeAlias = NDArray[np.uint32]
Ints: TypeAlias = NDArray[np.int64]

FREQUENT = 64
MANY = 1 << 21  # pairs that are counted at once


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


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePairs:
    """Pairs of places: of a text, and of one that it is compared with.

    `frequent`: for each frequent triple of a text that has too few others, the places of the texts
    that hold it, and of those that look for partners by it.
    """

    pairs: tuple[tuple[int, int], ...] = ()
    frequent: tuple[tuple[Ints, Ints], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """Triples of several texts, sorted: group and owner of each."""

    group: Ints
    owner: Ints

    def where(self, chosen: NDArray[np.bool_]) -> _Row:
        return _Row(self.group[chosen], self.owner[chosen])

    def each(self, texts: int) -> Ints:
        """How many of them each text has."""
        return np.bincount(self.owner, minlength=texts)


def find_candidate_pairs(signatures: Sequence[Signature]) -> CandidatePairs:
    """Who meets whom, for the threshold of the signatures."""
    texts = len(signatures)
    spare = np.array([one.least - 1 for one in signatures])
    row = _shared([one.whole for one in signatures])
    if row is None:
        return CandidatePairs()
    sizes = np.bincount(row.group)
    asks = row.each(texts) > spare
    frequent: tuple[tuple[Ints, Ints], ...] = ()
    if sizes.max() > FREQUENT:
        many = (sizes > FREQUENT)[row.group]
        spare -= row.where(many).each(texts)
        lost = asks & (spare < 0)
        frequent = tuple(_frequent_shingles(row, lost))
        asks &= ~lost
        row, spare = row.where(~many), np.maximum(spare, 0)
    return CandidatePairs(tuple(_pairs(row, asks, spare)), frequent)


def _shared(lists: list[NDArray[np.uint32]]) -> _Row | None:
    """What stands in more than one list."""
    owner = np.repeat(np.arange(len(lists), dtype=np.uint64), [len(own) for own in lists])
    keyed = np.concatenate(lists).astype(np.uint64) << 32 | owner
    keyed.sort()
    numbers = keyed >> 32
    same = numbers[1:] == numbers[:-1]
    if not same.any():
        return None
    again = np.concatenate(([False], same))
    held = again | np.concatenate((same, [False]))
    return _Row(np.cumsum(~again[held]) - 1, (keyed[held] & 0xFFFFFFFF).astype(np.int64))


def _pairs(row: _Row, asks: NDArray[np.bool_], spare: Ints) -> Iterator[tuple[int, int]]:
    texts = len(asks)
    if not asks.any() or not len(row.group):
        return
    pairs, votes = _votes(row, texts)
    enough = votes > spare.min()
    votes, (low, high) = votes[enough], np.divmod(pairs[enough], texts)
    for one, other in ((low, high), (high, low)):
        fine = asks[one] & (votes > spare[one])
        yield from zip(one[fine].tolist(), other[fine].tolist(), strict=True)


def _votes(row: _Row, texts: int) -> tuple[Ints, Ints]:
    """The pairs that share a triple, as numbers, and how many they share."""
    sizes = np.bincount(row.group)[row.group].astype(np.uint8)
    order = np.argsort(sizes, kind="stable")[::-1]
    narrow = np.uint32 if texts * texts < 1 << 32 else np.int64  # it sorts the faster
    group, owner = row.group[order], row.owner[order].astype(narrow)
    ends = len(group) - np.cumsum(np.bincount(sizes, minlength=2))
    counted = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    waiting: list[Ints] = []
    for far, end in enumerate(ends[1:-1].tolist(), start=1):
        near = np.flatnonzero(group[far:end] == group[: end - far])
        one, other = owner[near], owner[near + far]
        waiting.append(np.minimum(one, other) * narrow(texts) + np.maximum(one, other))
        if sum(map(len, waiting)) > MANY:
            counted.append(_counted(waiting))
            waiting.clear()
    if waiting:
        counted.append(_counted(waiting))
    if len(counted) == 2:
        return counted[1]
    pairs, back = np.unique(np.concatenate([part[0] for part in counted]), return_inverse=True)
    return pairs, np.bincount(back, np.concatenate([part[1] for part in counted]), len(pairs))


def _counted(codes: list[Ints]) -> tuple[Ints, Ints]:
    every = np.concatenate(codes)
    every.sort()
    starts = np.flatnonzero(np.concatenate(([True], every[1:] != every[:-1])))
    return every[starts].astype(np.int64), np.diff(starts, append=len(every))


def _frequent_shingles(row: _Row, lost: NDArray[np.bool_]) -> Iterator[tuple[Ints, Ints]]:
    asking = lost[row.owner]
    if not asking.any():
        return
    wanted = (np.bincount(row.group, asking) > 0)[row.group]
    row, asking = row.where(wanted), asking[wanted]
    starts = (np.flatnonzero(row.group[1:] != row.group[:-1]) + 1).tolist()
    for start, end in zip([0, *starts], [*starts, len(row.group)], strict=True):
        owners = row.owner[start:end]
        yield owners, owners[asking[start:end]]
