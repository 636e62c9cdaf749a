"""Which texts meet: they share a word triple, and enough of them for one to be a copy.

Not a comparison: of two texts one of which holds enough of the other none is missing, and most
that share a triple or two are left out by counting. In a small pool bits tell (`sketches.py`);
else:

1. The texts' *low* triples are laid in one row and sorted once, so equal ones stand side by side.
   A text that has too few low ones to find all that hold enough of it, and little else
   (`signature.py`), lays down all its triples, and the others theirs that may be equal.
2. A text asks for others if it shares so many triples with anybody that one could hold enough.
3. A triple that more than `CROWD` texts have is a crowd; its pairs are not written down. A text
   that has too few other triples is lost in the crowd: `crowds.py` looks for its like.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from foveate.core.stages.dedup.bitmap_pairs import alike, close

if TYPE_CHECKING:
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
    """Triples that several texts have, equal ones side by side: their group, and their owner.

    `laid`: whether the owner laid it down of its own, not because it may be another's.
    """

    group: Ints
    owner: Ints
    laid: NDArray[np.bool_]

    def where(self, chosen: NDArray[np.bool_]) -> _Row:
        return _Row(self.group[chosen], self.owner[chosen], self.laid[chosen])

    def each(self, texts: int) -> Ints:
        """How many of them each text laid down."""
        import numpy as np

        return np.bincount(self.owner[self.laid], minlength=texts)


def find_candidate_pairs(signatures: Sequence[Signature]) -> CandidatePairs:
    """Who meets whom. The signatures are for one threshold (`Signature.at`)."""
    import numpy as np

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
    import numpy as np

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
    import numpy as np

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
    """Who asks, and whom it shares more than its spare triples with."""
    import numpy as np

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
    """The pairs that share a triple, each as one number, and how many they share.

    The largest groups stand first, so that who has another `far` behind it is ever less of the row.
    """
    import numpy as np

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
    """The distinct codes, and how often each is there."""
    import numpy as np

    every = np.concatenate(codes)
    every.sort()
    starts = np.flatnonzero(np.concatenate(([True], every[1:] != every[:-1])))
    return every[starts].astype(np.int64), np.diff(starts, append=len(every))


def _frequent_shingles(row: _Row, lost: NDArray[np.bool_]) -> Iterator[tuple[Ints, Ints]]:
    import numpy as np

    asking = lost[row.owner] & row.laid
    if not asking.any():
        return
    wanted = (np.bincount(row.group, asking) > 0)[row.group]
    row, asking = row.where(wanted), asking[wanted]
    starts = (np.flatnonzero(row.group[1:] != row.group[:-1]) + 1).tolist()
    for start, end in zip([0, *starts], [*starts, len(row.group)], strict=True):
        owners = row.owner[start:end]
        yield owners, owners[asking[start:end]]
