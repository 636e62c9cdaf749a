"""Pairs of texts of which one may contain enough of the other's word triples.

No pair that qualifies is missing:

1. The texts' triples are concatenated and sorted, so equal ones are adjacent.
2. A text asks for partners if it shares so many triples that one could hold enough.
3. Pairs of a triple that more than `CROWD` texts have are not listed. A text with too few other
   triples is handled by `FrequentShingles`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from foveate.core.stages.dedup.signature import Signature

Ints: TypeAlias = NDArray[np.int64]

CROWD = 64
MANY = 1 << 21  # pairs that are counted at once


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePairs:
    """Pairs (asks, is asked) of places; for each triple of the lost, who has it and who asks."""

    pairs: tuple[tuple[int, int], ...] = ()
    crowds: tuple[tuple[Ints, Ints], ...] = ()


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
    crowds: tuple[tuple[Ints, Ints], ...] = ()
    if sizes.max() > CROWD:
        many = (sizes > CROWD)[row.group]
        spare -= row.where(many).each(texts)
        lost = asks & (spare < 0)
        crowds = tuple(_frequent_shingles(row, lost))
        asks &= ~lost
        row, spare = row.where(~many), np.maximum(spare, 0)
    return CandidatePairs(tuple(_pairs(row, asks, spare)), crowds)


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
