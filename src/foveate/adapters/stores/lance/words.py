"""The inverted index of a segment: per term, the chunks that hold it and how often. Pure.

A place is 32 bits: the chunk's place in its segment (23 bits) and how often it holds the term (9);
what is more often than that stands as several. Everything is sorted and counted by numpy at once,
so that a hundred thousand places take a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foveate.adapters.stores.bm25 import MOST

BITS = 9
"""Of how often."""
FULL = (1 << BITS) - 1


def postings(terms: Sequence[Sequence[str]]) -> tuple[list[str], Any, Any]:
    """Each chunk's terms → distinct terms in order, where each one's places end, all places.

    `ends`: int64, one a term; `places`: uint32, sorted by term and chunk.
    """
    import numpy as np

    numbers: dict[str, int] = {}
    flat = [numbers.setdefault(term, len(numbers)) for chunk in terms for term in chunk]
    owner = np.repeat(np.arange(len(terms)), [len(chunk) for chunk in terms])
    names = sorted(numbers)
    rank = np.empty(len(names), dtype=np.int64)
    rank[[numbers[name] for name in names]] = np.arange(len(names))
    keys = (rank[np.array(flat, dtype=np.int64)] << 32) | owner if flat else np.zeros(0, np.int64)
    pairs, times = np.unique(keys, return_counts=True)
    return names, *packed(pairs >> 32, pairs & 0xFFFFFFFF, times, len(names))


def packed(term: Any, local: Any, times: Any, count: int) -> tuple[Any, Any]:
    """Triples sorted by term and chunk → where each of `count` terms ends, and the places."""
    import numpy as np

    times = np.minimum(times, MOST)
    copies = (times + FULL - 1) // FULL
    term, local, left = (np.repeat(column, copies) for column in (term, local, times))
    first = np.concatenate([[0], np.cumsum(copies)[:-1]]) if len(copies) else copies
    nth = np.arange(len(left)) - np.repeat(first, copies)
    part = np.clip(left - nth * FULL, 0, FULL)
    ends = np.searchsorted(term, np.arange(count), side="right")
    return ends.astype(np.int64), ((local << BITS) | part).astype("<u4")


def unpacked(places: Any) -> tuple[Any, Any]:
    """Places (uint32) of one term in one segment → chunks' places (int64), times (int64)."""
    import numpy as np

    local, times = (places >> BITS).astype(np.int64), (places & FULL).astype(np.int64)
    if not len(times) or int(times.max()) < FULL:
        return local, times
    starts = np.flatnonzero(np.concatenate([[True], local[1:] != local[:-1]]))
    return local[starts], np.add.reduceat(times, starts)


def as_binary(ends: Any, places: Any) -> Any:
    """The places as an Arrow array of bytes, one value a term, without copying them apart."""
    import numpy as np
    import pyarrow as pa

    offsets = np.concatenate([[0], ends]) * 4
    wide = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(places.tobytes())]
    )
    return wide.cast(pa.binary())


def from_binary(column: Any) -> tuple[Any, Any]:
    """An Arrow array of bytes → where each value ends (int64, in places), all places (uint32)."""
    import numpy as np
    import pyarrow as pa

    wide = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    wide = pa.concat_arrays(wide.chunks) if isinstance(wide, pa.ChunkedArray) else wide
    wide = wide.cast(pa.large_binary())
    if not len(wide):
        return np.zeros(0, np.int64), np.zeros(0, "<u4")
    _, offsets, data = wide.buffers()
    at = np.frombuffer(offsets, dtype=np.int64)[wide.offset : wide.offset + len(wide) + 1]
    places = np.frombuffer(data, dtype=np.uint8)[at[0] : at[-1]].copy().view("<u4")
    return (at[1:] - at[0]) // 4, places
