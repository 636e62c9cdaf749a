"""Postings of a segment: a row a term, with its places as a list, which Lance packs.

A place is the chunk's place in its file and how often the chunk holds the term, as `scoring` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from foveate.stores.lance.schema import LOCAL_BITS, build_table, column_types
from foveate.stores.scoring import decode_places, encode_places, group_terms

LOCAL_MASK = (1 << LOCAL_BITS) - 1


def build_postings(dimensions: int, segment: int, terms: Sequence[Sequence[str]]) -> Any:
    """Each chunk's terms → the table of the segment's postings, by term."""
    names, term, place, counts = group_terms(terms)
    places = encode_places(place, counts)
    return _posting_table(dimensions, segment, pa.array(names, pa.string()), term, places)


def read_places(column: Any) -> tuple[Any, Any]:
    """A column of places → how many each row has, and all of them (int64)."""
    lengths, places = pc.list_value_length(column), pc.list_flatten(column)
    return lengths.to_numpy().astype(np.int64), places.to_numpy()


def merge_postings(
    dimensions: int, segment: int, postings: Any, keys: Any, sizes: Mapping[int, int]
) -> Any:
    """Postings of several segments as those of one.

    `keys`: old keys in the new order; `sizes`: segment → its chunks, dead ones included.
    """
    numbers = np.array(sorted(sizes))
    bases = np.cumsum([0, *(sizes[number] for number in numbers.tolist())])
    new = np.full(bases[-1], -1, dtype=np.int64)
    at = bases[np.searchsorted(numbers, keys >> LOCAL_BITS)] + (keys & LOCAL_MASK)
    new[at] = np.arange(len(keys))
    names = pc.unique(postings.column("term")).sort()
    rank = pc.rank(postings.column("term"), tiebreaker="dense").to_numpy().astype(np.int64) - 1
    lengths, places = read_places(postings.column("places"))
    local, counts = decode_places(places)
    base = bases[np.searchsorted(numbers, postings.column("segment").to_numpy())]
    local, term = new[np.repeat(base, lengths) + local], np.repeat(rank, lengths)
    order = np.lexsort((local, term))
    order = order[local[order] >= 0]
    kept, term = np.unique(term[order], return_inverse=True)
    places = encode_places(local[order], counts[order])
    return _posting_table(dimensions, segment, names.take(pa.array(kept)), term, places)


def _posting_table(dimensions: int, segment: int, names: Any, term: Any, places: Any) -> Any:
    """`term`: of each place its number in `names`, ascending."""
    offsets = np.searchsorted(term, np.arange(len(names) + 1)).astype(np.int32)
    given = {
        "term": names,
        "segment": pa.array(np.full(len(names), segment, dtype=np.int64)),
        "places": pa.ListArray.from_arrays(pa.array(offsets), pa.array(places)),
    }
    return build_table(column_types(dimensions), given)
