"""Postings of a server store: their bytes, BM25 over them, and a cache of those that were read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from blake3 import blake3

from foveate.core.bounded_cache import BoundedCache
from foveate.stores.checksums import MASK, damage, sum_of_places
from foveate.stores.scoring import bm25, damping, group_terms

PLACE_DTYPE = [("chunk", "<i8"), ("terms", "<i4"), ("count", "<u2")]
"""One place: 14 bytes, little-endian on any machine."""
PLACE_BYTES = np.dtype(PLACE_DTYPE).itemsize
ROW_BYTES = 512 * PLACE_BYTES
"""Bytes of places that `MERGE` puts into a row."""
TERMS_WEIGHT, NORM_WEIGHT = 1_009, 65_537
"""What figures are multiplied with in a sum, beside the chunk's row id."""
_MAX_DENSE_SPAN = 1 << 22
"""Chunk ids that lie no further apart than this are looked up by their distance."""


def encode_postings(
    chunks: Sequence[int],
    terms: Sequence[Sequence[str]],
    facts: Sequence[Sequence[str]],
    audiences: Sequence[int],
) -> list[list[Any]]:
    """Columns of terms, audiences and places; `chunks`: row ids, ascending, of the others."""
    both = [[*one, *other] for one, other in zip(terms, facts, strict=True)]
    names, term, text, counts = group_terms(both)
    whose = np.array(audiences, dtype=np.int64)[text]
    order = np.lexsort((text, whose, term))
    term, text, whose = term[order], text[order], whose[order]
    places = np.empty(len(order), dtype=PLACE_DTYPE)
    places["chunk"] = np.array(chunks, dtype=np.int64)[text]
    places["terms"] = np.array([len(one) for one in terms], dtype=np.int64)[text]
    places["count"] = counts[order]
    starts = np.flatnonzero(np.diff(term, prepend=-1) | np.diff(whose, prepend=-1))
    return [
        [names[number] for number in term[starts].tolist()],
        whose[starts].tolist(),
        [each.tobytes() for each in np.split(places, starts[1:])] if len(starts) else [],
    ]


def verified(term: str, data: bytes, noted: int) -> bytes:
    """A term's places as they were read; raises where they do not give the sum that is noted."""
    places = np.frombuffer(data[: len(data) // PLACE_BYTES * PLACE_BYTES], dtype=PLACE_DTYPE)
    if len(data) % PLACE_BYTES or sum_of(term, places) != noted & MASK:
        raise damage("its full-text index is not as it was written")
    return data


def score_postings(found: Mapping[str, bytes], terms: Sequence[str], total: int, words: int) -> Any:
    """Chunk row ids, ascending, and the BM25 of each; `found`: term → places of readable chunks."""
    places = [np.frombuffer(found.get(term, b""), dtype=PLACE_DTYPE) for term in terms]
    ids, at = _term_positions([one["chunk"] for one in places])
    lengths = np.zeros(len(ids), dtype=np.int64)
    for one, positions in zip(places, at, strict=True):
        lengths[positions] = one["terms"]

    def about(positions: Any) -> Any:
        return damping(lengths[positions], total=total, words=words)

    rows = [(positions, one["count"]) for one, positions in zip(places, at, strict=True)]
    return ids, bm25(rows, about, rows=len(ids), total=total)


def matching_rows(found: Mapping[str, bytes], filters: Sequence[Sequence[str]]) -> Any:
    """Row ids, ascending, of the chunks that have one fact of each filter; None without any."""
    matching = None
    for facts in filters:
        places = [np.frombuffer(found[fact], dtype=PLACE_DTYPE)["chunk"] for fact in facts]
        rows = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *places]))
        matching = rows if matching is None else np.intersect1d(matching, rows)
    return matching


def _term_positions(chunks: Sequence[Any]) -> tuple[Any, list[Any]]:
    """All ids, and the positions of each term's ids among them."""
    everything = np.concatenate([np.zeros(0, dtype=np.int64), *chunks])
    if len(everything) and (span := int(everything.max() - everything.min())) < _MAX_DENSE_SPAN:
        first = int(everything.min())
        return np.arange(first, first + span + 1), [one - first for one in chunks]
    ids = np.unique(everything)
    return ids, [np.searchsorted(ids, one) for one in chunks]


_MAX_BYTES = 48_000_000
"""Bytes, at the most; the postings of one word may be as many."""
_COMPARED_BYTES = 24_000
"""Bytes of the states of which it is kept that their rows were compared: some 64."""


class PostingsCache:
    """Postings by audiences and term; safe for threads."""

    def __init__(self) -> None:
        self._entries: BoundedCache[tuple[bytes, str], bytes] = BoundedCache(
            _MAX_BYTES, largest=_MAX_BYTES
        )
        self._compared: BoundedCache[bytes, bool] = BoundedCache(_COMPARED_BYTES)

    def get(self, scope: bytes, terms: Iterable[str]) -> dict[str, bytes]:
        """The cached postings of these terms."""
        found = {term: self._entries.get((scope, term)) for term in terms}
        return {term: places for term, places in found.items() if places is not None}

    def put(self, scope: bytes, places: Mapping[str, bytes]) -> None:
        """Put what was read where the next question finds it."""
        for term, data in places.items():
            self._entries.put((scope, term), data)

    def is_compared(self, scope: bytes) -> bool:
        """Whether the rows of these audiences were compared with their sums in this state."""
        return bool(self._compared.get(scope))

    def note_compared(self, scope: bytes) -> None:
        """They were."""
        self._compared.put(scope, True)


def scope_key(audiences: Iterable[Sequence[Any]]) -> bytes:
    """A name for these audiences as they are; rows of `audience_columns`."""
    name = blake3()
    for number, _, state, _, _, _, _, writes, _ in audiences:
        name.update(number.to_bytes(8, "little") + writes.to_bytes(8, "little") + state)
    return name.digest()


def sum_of(term: str, places: Any) -> int:
    """Of a term's places, as an array of `PLACE_DTYPE`."""
    total = sum(
        int(places[name].sum(dtype="i8")) * weight
        for name, weight in (("chunk", 1), ("terms", TERMS_WEIGHT), ("count", NORM_WEIGHT))
    )
    return sum_of_places(term, total, len(places))


def sums_by_term(rows: Iterable[Sequence[Any]]) -> dict[tuple[str, int], int]:
    """By term and audience, of rows of these two and places."""
    sums: dict[tuple[str, int], int] = {}
    for term, audience, places in rows:
        added = sum_of(term, np.frombuffer(places, dtype=PLACE_DTYPE))
        sums[term, audience] = sums.get((term, audience), 0) + added & MASK
    return sums


_ROW_OF = (
    "p.term = g.term AND p.audience = g.audience AND p.document = (SELECT max(q.document) "
    "FROM {s}.postings AS q WHERE q.term = g.term AND q.audience = g.audience "
    "AND q.document <= %s)"
)
"""The row with a document's places of a term: no row reaches into the documents of the next."""
_TAKE_OUT = f"""UPDATE {{s}}.postings AS p SET places = (
        SELECT coalesce(
            string_agg(substr(p.places, at, {PLACE_BYTES}), ''::bytea ORDER BY at), ''::bytea)
        FROM generate_series(1, length(p.places), {PLACE_BYTES}) AS at
        WHERE NOT substr(p.places, at, 8) = ANY(%s::bytea[]))
    FROM unnest(%s::text[], %s::integer[]) AS g (term, audience) WHERE {_ROW_OF}"""
_DELETE_EMPTY = (
    "DELETE FROM {s}.postings AS p USING unnest(%s::text[], %s::integer[]) AS g (term, audience) "
    f"WHERE p.places = ''::bytea AND {_ROW_OF}"
)
MERGE = f"""WITH loose AS (
        SELECT term, audience FROM {{s}}.postings GROUP BY term, audience
        HAVING count(*) > 1 + 2 * sum(length(places)) / {ROW_BYTES}
    ), gone AS (
        DELETE FROM {{s}}.postings AS p USING loose AS g
        WHERE p.term = g.term AND p.audience = g.audience RETURNING p.*
    ), made AS (
        INSERT INTO {{s}}.postings
        SELECT term, audience, min(document), string_agg(places, ''::bytea ORDER BY document)
        FROM (
            SELECT *, (sum(length(places)) OVER (
                PARTITION BY term, audience ORDER BY document) - 1) / {ROW_BYTES} AS part FROM gone
        ) AS x GROUP BY term, audience, part RETURNING 1
    ) SELECT count(*) FROM made"""
"""Write places again with as many documents to a row as fit, where that makes few rows of many."""


def removals(
    document: int, chunks: Iterable[int], places: Sequence[Sequence[Any]]
) -> list[tuple[str, list[Any]]]:
    """SQL and values that take a document's chunks out of these rows of `encode_postings`."""
    ids = [chunk.to_bytes(8, "little") for chunk in chunks]
    keys = [list(column) for column in places[:2]]
    return [(_TAKE_OUT, [ids, *keys, document]), (_DELETE_EMPTY, [*keys, document])]
