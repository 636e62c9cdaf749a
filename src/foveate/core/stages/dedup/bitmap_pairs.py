"""Which texts of a small pool might be copies: every text's bits against every other's.

Each triple sets one of 512 bits, so of a text that another holds enough of, all bits but a few are
set in the other: a bound, never a guess. A thousand texts are some million words of bits, which
are compared in less time than it takes to sort what the texts share. For more texts, or where
nearly all look alike (long texts set all bits), `meet.py` sorts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from foveate.core.stages.dedup.signature import Signature

    Ints: TypeAlias = NDArray[np.int64]

TEXTS = 1200
FEW = 48  # texts, whose bits are compared before arrays of them are made
ALIKE = 32  # pairs a text, on average, above which bits tell too little
_AT_ONCE = 1 << 16  # words of bits


def alike(signatures: Sequence[Signature]) -> tuple[tuple[int, int], ...] | None:
    """Pairs (text, other) that may be enough alike; None: too many texts or pairs to say."""
    texts = len(signatures)
    if texts > TEXTS:
        return None
    if texts <= FEW:
        few = _one_by_one(signatures)
        return few if len(few) <= ALIKE * texts else None
    import numpy as np

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


def _one_by_one(signatures: Sequence[Signature]) -> tuple[tuple[int, int], ...]:
    """The same pairs, each text's bits as one whole number."""
    pairs: list[tuple[int, int]] = []
    before: list[tuple[int, int, int]] = []
    for i, (one, least) in enumerate(zip(signatures, _needed(signatures), strict=True)):
        bits = int.from_bytes(one.bits, "little")
        for other, needed, j in before:
            shared = (bits & other).bit_count()
            if shared >= least:
                pairs.append((i, j))
            if shared >= needed:
                pairs.append((j, i))
        before.append((bits, least, i))
    return tuple(pairs)


def close(signatures: Sequence[Signature], one: Ints, other: Ints) -> NDArray[np.bool_]:
    """Which of the pairs (one, other) may be: the other may hold enough of the one."""
    import numpy as np

    bits, least = _bits(signatures), _least(signatures)
    fine = np.empty(len(one), dtype=bool)
    for first in range(0, len(one), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        both = np.bitwise_count(bits[one[part]] & bits[other[part]])
        fine[part] = both.sum(axis=1, dtype=np.uint16) >= least[one[part]]
    return fine


def _bits(signatures: Sequence[Signature]) -> NDArray[np.uint64]:
    """A row a text."""
    import numpy as np

    flat = np.frombuffer(b"".join([one.bits for one in signatures]), dtype=np.uint64)
    return flat.reshape(len(signatures), -1)


def _least(signatures: Sequence[Signature]) -> NDArray[np.uint16]:
    """What is needed, as an array."""
    import numpy as np

    return np.array(_needed(signatures), dtype=np.uint16)


def _needed(signatures: Sequence[Signature]) -> list[int]:
    """How many bits must be set in a text and in the other; nothing is enough of no words."""
    return [one.ones - one.depth + 1 if one.depth else 1 << 14 for one in signatures]
