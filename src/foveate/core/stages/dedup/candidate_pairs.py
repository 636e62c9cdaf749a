"""Pairs of texts of which one may contain enough of the other's word triples.

No pair that qualifies is missing. In a small pool every triple sets one of 512 bits: of a contained
text all bits but a few are set in the other. In a large pool:

1. The texts' *low* triples are concatenated and sorted, so equal ones are adjacent. A text with too
   few low triples contributes all its triples, and the others those that may equal one of them.
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
FEW = 4  # low triples should be a fourth more than those that are asked for
MANY = 1 << 21  # pairs that are counted at once


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePairs:
    """Pairs (asks, is asked) of places; for each triple of the lost, who has it and who asks."""

    pairs: tuple[tuple[int, int], ...] = ()
    crowds: tuple[tuple[Ints, Ints], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """Triples of several texts, sorted: group, owner, and whether the owner `laid` it."""

    group: Ints
    owner: Ints
    laid: NDArray[np.bool_]

    def where(self, chosen: NDArray[np.bool_]) -> _Row:
        return _Row(self.group[chosen], self.owner[chosen], self.laid[chosen])

    def each(self, texts: int) -> Ints:
        """How many of them each text laid down."""
        return np.bincount(self.owner[self.laid], minlength=texts)


def find_candidate_pairs(signatures: Sequence[Signature]) -> CandidatePairs:
    """Who meets whom. The signatures are for one threshold (`Signature.at`)."""
    pairs = alike(signatures)
    if pairs is not None:
        return CandidatePairs(pairs)
    texts = len(signatures)
    lists = [one.low for one in signatures]
    spare = np.array([len(one.low) - one.depth for one in signatures])
    owners = None
    short = np.flatnonzero(spare * FEW < [one.depth for one in signatures])
    if len(short):
        for i in short.tolist():
            lists[i] = signatures[i].whole
            spare[i] = len(lists[i]) - signatures[i].depth
        owners, more = _besides(signatures, short)
        lists.append(more)
    row = _shared(lists, owners)
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
    return CandidatePairs(tuple(_pairs(row, asks, spare, signatures)), crowds)


def _besides(signatures: Sequence[Signature], short: Ints) -> tuple[Ints, NDArray[np.uint32]]:
    """The high triples of all but the short texts that may be equal to one of theirs; owners."""
    wanted = np.zeros(1 << 16, dtype=bool)
    for i in short.tolist():
        wanted[signatures[i].whole[len(signatures[i].low) :] >> 16] = True
    high = [one.whole[len(one.low) :] for one in signatures]
    for i in short.tolist():
        high[i] = high[i][:0]
    flat = np.concatenate(high)
    places = np.flatnonzero(wanted[flat >> 16])
    return np.cumsum([len(own) for own in high]).searchsorted(places, side="right"), flat[places]


def _shared(lists: list[NDArray[np.uint32]], owners: Ints | None) -> _Row | None:
    """What stands in more than one list; `owners` are those of the last list's items."""
    flat = np.concatenate(lists)
    keyed = flat.astype(np.uint64)
    keyed <<= 32
    keyed |= np.arange(len(flat), dtype=np.uint64)
    keyed.sort()
    numbers = keyed >> 32
    same = numbers[1:] == numbers[:-1]
    if not same.any():
        return None
    again = np.zeros(len(flat), dtype=bool)
    again[1:] = same
    held = again.copy()
    held[:-1] |= same
    places = (keyed[held] & 0xFFFFFFFF).astype(np.int64)
    group = np.cumsum(~again[held]) - 1
    texts = len(lists) if owners is None else len(lists) - 1
    owner = np.repeat(np.arange(texts), [len(own) for own in lists[:texts]])
    laid = places < len(owner)
    return _Row(group, (owner if owners is None else np.concatenate((owner, owners)))[places], laid)


def _pairs(
    row: _Row, asks: NDArray[np.bool_], spare: Ints, signatures: Sequence[Signature]
) -> Iterator[tuple[int, int]]:
    texts = len(asks)
    if not asks.any() or not len(row.group):
        return
    pairs, votes = _votes(row, texts)
    enough = votes > spare.min()
    votes, (low, high) = votes[enough], np.divmod(pairs[enough], texts)
    for one, other in ((low, high), (high, low)):
        fine = np.flatnonzero(asks[one] & (votes > spare[one]) & (one != other))
        fine = fine[close(signatures, one[fine], other[fine])]
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
    asking = lost[row.owner] & row.laid
    if not asking.any():
        return
    wanted = (np.bincount(row.group, asking) > 0)[row.group]
    row, asking = row.where(wanted), asking[wanted]
    starts = (np.flatnonzero(row.group[1:] != row.group[:-1]) + 1).tolist()
    for start, end in zip([0, *starts], [*starts, len(row.group)], strict=True):
        owners = row.owner[start:end]
        yield owners, owners[asking[start:end]]


TEXTS = 1200
ALIKE = 32  # pairs a text, on average, above which bits tell too little
_AT_ONCE = 1 << 16  # words of bits


def alike(signatures: Sequence[Signature]) -> tuple[tuple[int, int], ...] | None:
    """Pairs (text, other) that may be enough alike; None: too many texts or pairs to say."""
    texts = len(signatures)
    if texts > TEXTS:
        return None
    columns = _bits(signatures).T.copy()
    least = _least(signatures)
    rows = max(1, _AT_ONCE // (len(columns) * texts))
    pairs: list[tuple[int, int]] = []
    for first in range(0, texts, rows):
        last = min(first + rows, texts)
        both = columns[:, first:last, None] & columns[:, None, first:]
        shared = np.bitwise_count(both).sum(axis=0, dtype=np.uint16)
        own, other = least[first:last, None], least[first:]
        found = np.flatnonzero(shared >= np.minimum(own, other))
        votes = shared.ravel()[found]
        low, high = np.divmod(found, texts - first)
        fine = low < high
        low, high, votes = low[fine] + first, high[fine] + first, votes[fine]
        for one, two in ((low, high), (high, low)):
            asks = votes >= least[one]
            pairs += zip(one[asks].tolist(), two[asks].tolist(), strict=True)
        if len(pairs) > ALIKE * texts:
            return None
    return tuple(pairs)


def close(signatures: Sequence[Signature], one: Ints, other: Ints) -> NDArray[np.bool_]:
    """Which of the pairs (one, other) may be: the other may hold enough of the one."""
    bits, least = _bits(signatures), _least(signatures)
    fine = np.empty(len(one), dtype=bool)
    for first in range(0, len(one), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        both = np.bitwise_count(bits[one[part]] & bits[other[part]])
        fine[part] = both.sum(axis=1, dtype=np.uint16) >= least[one[part]]
    return fine


def _bits(signatures: Sequence[Signature]) -> NDArray[np.uint64]:
    flat = np.frombuffer(b"".join([one.bits for one in signatures]), dtype=np.uint64)
    return flat.reshape(len(signatures), -1)


def _least(signatures: Sequence[Signature]) -> NDArray[np.uint16]:
    """How many bits must be set in a text and in the other; nothing is enough of no words.

    In a long text most bits are set by several triples, and then any other text may be enough.
    """
    needed = [max(0, one.ones - one.depth + 1) if one.depth else 1 << 14 for one in signatures]
    return np.array(needed, dtype=np.uint16)
