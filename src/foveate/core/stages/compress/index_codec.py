"""A text's index as bytes, and back: a few arrays, each number once, in as few bytes as it takes.

Rule: what comes back is an index that nothing can fall over; bytes that are none give None. That
the numbers are those of the text is for whoever keeps the bytes to know (`core/readings.py`).
"""

from __future__ import annotations

from itertools import chain
from operator import lt
from struct import Struct, error
from typing import TYPE_CHECKING

from foveate.core.stages.compress.unit_index import Index, index_from_arrays
from foveate.core.stages.compress.units import Units
from foveate.core.text.sentences import BlockKind

if TYPE_CHECKING:
    from foveate.core.stages.compress.unit_index import Numbers

HEAD = Struct("<BIIIII")
"""Bytes of a number; units, blocks, distinct terms and words, and the length of the text."""
PROFILE_KEY = "index "
"""Under which name, with the language, its bytes are kept in a profile."""
KINDS: tuple[BlockKind, ...] = ("paragraph", "list")
NARROW = 1 << 16


def encode_index(index: Index, length: int) -> bytes:
    """The index of a text of so many characters."""
    import numpy as np

    units = index.units
    wide = 4 if max(length, *index.lengths, *index.widths, 0, 0) >= NARROW else 2
    terms, of_terms = np.unique(index.terms, return_inverse=True)
    words, of_words = np.unique(index.words, return_inverse=True)
    blocks = [number for a, b, kind in units.prose for number in (a, b, KINDS.index(kind))]
    numbers = [*chain(*units.spans), *units.leans, *index.lengths, *index.widths, *blocks]
    return b"".join(
        [
            HEAD.pack(wide, len(units.spans), len(units.prose), len(terms), len(words), length),
            np.array(numbers, dtype=f"<u{wide}").tobytes(),
            np.concatenate([terms, words]).astype("<u4").tobytes(),
            of_terms.astype(_narrowest(len(terms))).tobytes(),
            of_words.astype(_narrowest(len(words))).tobytes(),
        ]
    )


def decode_index(data: bytes, text: str) -> Index | None:
    """The index of this text; None for bytes that are not one of a text of that length."""
    try:
        return _decode(data, text)
    except (ValueError, IndexError, error):
        return None


def _decode(data: bytes, text: str) -> Index:
    """Raises where the bytes are not such as `packed` makes."""
    import numpy as np

    wide, units, blocks, terms, words, length = HEAD.unpack_from(data)
    if wide not in (2, 4) or length != len(text):
        raise ValueError
    count, at = 5 * units + 3 * blocks, HEAD.size
    found: list[int] = np.frombuffer(data, f"<u{wide}", count, at).tolist() if count else []
    own = _units(found[: 3 * units], found[5 * units :], length)
    lengths, widths = found[3 * units : 4 * units], found[4 * units : 5 * units]
    at += wide * count
    if not terms:
        none = np.empty(0, dtype=np.uint32)
        return index_from_arrays(own, none, lengths, none, widths)
    known = np.frombuffer(data, "<u4", terms + words, at).astype(np.uint32)
    at += known.nbytes
    ends = sum(lengths), sum(widths)
    places = np.dtype(_narrowest(terms)), np.dtype(_narrowest(words))
    behind = at + ends[0] * places[0].itemsize
    if behind + ends[1] * places[1].itemsize != len(data):
        raise ValueError
    said: Numbers = known[:terms][np.frombuffer(data, places[0], ends[0], at)]
    spelled: Numbers = known[terms:][np.frombuffer(data, places[1], ends[1], behind)]
    return index_from_arrays(own, said, lengths, spelled, widths)


def _units(numbers: list[int], blocks: list[int], length: int) -> Units:
    """Spans and leans; spans that are empty, out of order, or beyond the text are refused."""
    count = len(numbers) // 3
    bounds, leans = numbers[: 2 * count], numbers[2 * count :]
    starts, ends = bounds[::2], bounds[1::2]
    first, last = blocks[::3], blocks[1::3]
    if (
        bounds != sorted(bounds)
        or not all(map(lt, starts, ends))
        or max(leans, default=-1) >= count
    ):
        raise ValueError
    if not all(map(lt, first, last)) or max([*ends[-1:], *last], default=0) > length:
        raise ValueError
    kinds = [KINDS[n] for n in blocks[2::3]]
    return Units(
        tuple(zip(starts, ends, strict=True)),
        tuple(leans),
        tuple(zip(first, last, kinds, strict=True)),
    )


def _narrowest(count: int) -> str:
    """How a place among so many is written."""
    return "u1" if count <= 1 << 8 else "<u2" if count <= NARROW else "<u4"
