"""Postings as bytes: per term and document, which chunks hold it, how often, and how long they are.

The length stands with every place, so that a chunk is scored from its postings alone. The server
joins the bytes of a term's documents, of the audiences that may be read; numpy reads them here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from foveate.stores.bm25 import MAX_COUNT, bm25_scores
from foveate.stores.checksums import MASK, damage
from foveate.stores.postgres.checksums import sum_of

PLACE_DTYPE = [("chunk", "<i8"), ("terms", "<i4"), ("count", "<u2")]
"""One place: 14 bytes, little-endian on any machine."""
_MAX_DENSE_SPAN = 1 << 22
"""Chunk ids that lie no further apart than this are looked up by their distance."""


def encode_postings(
    terms: Mapping[int, Sequence[str]], audiences: Mapping[int, int]
) -> list[list[Any]]:
    """Columns of terms, audiences and places; `terms`: chunk row id → its terms."""
    import numpy as np

    chunks = sorted(terms)
    lengths = [len(terms[chunk]) for chunk in chunks]
    whose: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
    for chunk, length in zip(chunks, lengths, strict=True):
        audience = audiences[chunk]
        for term, count in Counter(terms[chunk]).items():
            place = (chunk, length, min(count, MAX_COUNT))
            whose.setdefault((term, audience), []).append(place)
    keys = sorted(whose)
    flat = np.array([place for key in keys for place in whose[key]], dtype=PLACE_DTYPE).tobytes()
    size, at = np.dtype(PLACE_DTYPE).itemsize, 0
    places = []
    for key in keys:
        end = at + size * len(whose[key])
        places.append(flat[at:end])
        at = end
    return [[term for term, _ in keys], [audience for _, audience in keys], places]


def verified(term: str, data: bytes, noted: int) -> bytes:
    """A term's places as they were read; raises where they do not give the sum that is noted."""
    import numpy as np

    size = np.dtype(PLACE_DTYPE).itemsize
    places = np.frombuffer(data[: len(data) // size * size], dtype=PLACE_DTYPE)
    if len(data) % size or sum_of(term, places) != noted & MASK:
        raise damage("its full-text index is not as it was written")
    return data


def score_postings(found: Mapping[str, bytes], terms: Sequence[str], total: int, words: int) -> Any:
    """(chunk row ids ascending, BM25 of each), of the chunks that hold a term and may be read.

    `found`: term → its places; `total`, `words`: how many chunks may be read, and their terms.
    """
    import numpy as np

    places = [np.frombuffer(found.get(term, b""), dtype=PLACE_DTYPE) for term in terms]
    ids, at = _term_positions([one["chunk"] for one in places])
    lengths = np.zeros(len(ids), dtype=np.int64)
    rows = []
    for one, positions in zip(places, at, strict=True):
        lengths[positions] = one["terms"]
        rows.append((positions, one["count"]))
    return ids, bm25_scores(rows, lengths, total=total, words=words)


def _term_positions(chunks: Sequence[Any]) -> tuple[Any, list[Any]]:
    """All ids, and where each term's stand among them."""
    import numpy as np

    everything = np.concatenate([np.zeros(0, dtype=np.int64), *chunks])
    if len(everything) and (span := int(everything.max() - everything.min())) < _MAX_DENSE_SPAN:
        first = int(everything.min())
        return np.arange(first, first + span + 1), [one - first for one in chunks]
    ids = np.unique(everything)
    return ids, [np.searchsorted(ids, one) for one in chunks]
