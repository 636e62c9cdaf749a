"""The inverted index of a segment: per term, the chunks that hold it and how often. Pure.

A place is 32 bits: the chunk's place in its segment (23 bits) and how often it holds the term (9);
what is more often than that stands as several. Everything is sorted and counted by numpy at once,
so that a hundred thousand places take a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foveate.stores.bm25 import MAX_COUNT

COUNT_BITS = 9
"""Of how often."""
COUNT_MASK = (1 << COUNT_BITS) - 1


def build_postings(terms: Sequence[Sequence[str]]) -> tuple[list[str], Any, Any]:
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
    return names, *encode_places(pairs >> 32, pairs & 0xFFFFFFFF, times, len(names))


def encode_places(term: Any, local: Any, times: Any, count: int) -> tuple[Any, Any]:
    """Triples sorted by term and chunk → where each of `count` terms ends, and the places."""
    import numpy as np

    times = np.minimum(times, MAX_COUNT)
    copies = (times + COUNT_MASK - 1) // COUNT_MASK
    term, local, left = (np.repeat(column, copies) for column in (term, local, times))
    first = np.concatenate([[0], np.cumsum(copies)[:-1]]) if len(copies) else copies
    nth = np.arange(len(left)) - np.repeat(first, copies)
    part = np.clip(left - nth * COUNT_MASK, 0, COUNT_MASK)
    ends = np.searchsorted(term, np.arange(count), side="right")
    return ends.astype(np.int64), ((local << COUNT_BITS) | part).astype("<u4")


def decode_places(places: Any) -> tuple[Any, Any]:
    """Places (uint32) of one term in one segment → chunks' places (int64), times (int64)."""
    import numpy as np

    local, times = (places >> COUNT_BITS).astype(np.int64), (places & COUNT_MASK).astype(np.int64)
    if not len(times) or int(times.max()) < COUNT_MASK:
        return local, times
    starts = np.flatnonzero(np.concatenate([[True], local[1:] != local[:-1]]))
    return local[starts], np.add.reduceat(times, starts)


def binary_from_places(ends: Any, places: Any) -> Any:
    """The places as an Arrow array of bytes, one value a term, without copying them apart."""
    import numpy as np
    import pyarrow as pa

    offsets = np.concatenate([[0], ends]) * 4
    wide = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(places.tobytes())]
    )
    return wide.cast(pa.binary())


def places_from_binary(column: Any) -> tuple[Any, Any]:
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
