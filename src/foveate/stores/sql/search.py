"""Hybrid search inside one state of a store, and neighbours.

What the request may not read is not read, and enters no statistics. Words are scored here, from
the packed postings of readable audiences; vectors are compared by the engine. A leg is ordered by
score, then by the content key (source, sequence, byte offset, id); the fused order by RRF, then by
that key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from foveate.core.text.terms import query_terms
from foveate.core.types import Chunk
from foveate.ports import SearchResult
from foveate.stores.base import Search
from foveate.stores.checksums import damage
from foveate.stores.filters import iter_batches, parse_filters
from foveate.stores.int8 import cosine_similarities, quantise_query
from foveate.stores.places import chunks_within
from foveate.stores.rows import chunks_from_rows
from foveate.stores.scoring import SLICE, best_matches, combine_legs
from foveate.stores.sql.audiences import (
    compute_state_root,
    load_audiences,
    readers_from_rows,
    readers_query,
    readers_statements,
)
from foveate.stores.sql.contents import (
    CHUNK_DAMAGE,
    chunk_statement,
    decode_chunk_rows,
    decode_documents,
    load_chunk_rows,
    named_documents_statements,
)
from foveate.stores.sql.database import Database
from foveate.stores.sql.postings import Readable, load_postings, matching_rows, score_postings

Nearest: TypeAlias = Callable[[Readable, Any, Any, int], tuple[Any, str]]
"""From what may be read, an int8 query, the row ids that a filter matches (None for all) and the
depth: the row ids of the nearest chunks and of their ties, and the index that named them, if any.
"""


def hybrid_search(database: Database, asked: Search, nearest: Nearest) -> SearchResult:
    """The search in this state; filters apply before the legs are cut."""
    readable = Readable.of(load_audiences(database, asked.principals))
    aim = quantise_query(asked.vector, database.dimensions)
    filters, terms = parse_filters(asked.where), query_terms(asked.query)
    needed = {*terms, *(fact for facts in filters for fact in facts)}
    found = load_postings(database, readable, needed)
    matching = matching_rows(found, filters)
    ids, scores = score_postings(found, terms, readable.chunks)
    wanted = None if matching is None else np.isin(ids, matching)
    hits = ids[best_matches(scores, wanted, asked.depth)]
    near, index = np.empty(0, dtype=np.int64), ""
    if aim is not None:
        near, index = nearest(readable, aim, matching, asked.depth)
        near = np.unique(near)
    rows = _FoundRows(database, np.union1d(near, hits))
    return combine_legs(
        near,
        hits,
        bm25=lambda some: _scores_by_row(ids, scores, some),
        cosines=None if aim is None else lambda some: rows.cosines(some, aim),
        load=rows.load,
        depth=asked.depth,
        limit=asked.limit,
        index=index,
        state_root=compute_state_root(database, readable.audiences),
    )


class _FoundRows:
    """The rows that a search found, read once if they are few, and else slice by slice."""

    def __init__(self, database: Database, rows: Any) -> None:
        self._database = database
        self._few = rows.tolist() if len(rows) <= SLICE else None
        self._known: tuple[dict[int, Chunk], dict[int, bytes]] | None = None

    def load(self, rows: Any) -> list[Chunk]:
        """The chunks of these rows, in this order."""
        chunks, _ = self._read(rows.tolist())
        return [chunks[row] for row in rows.tolist()]

    def cosines(self, rows: Any, aim: Any) -> Any:
        """Of these rows with an int8 query, float64."""
        found = np.empty(len(rows))
        for start in range(0, len(rows), SLICE):
            some = rows[start : start + SLICE].tolist()
            _, vectors = self._read(some)
            data = b"".join(vectors[row] for row in some)
            stored = np.frombuffer(data, dtype=np.int8).reshape(len(some), -1)
            found[start : start + SLICE] = cosine_similarities(stored, aim)
        return found

    def _read(self, rows: list[int]) -> tuple[dict[int, Chunk], dict[int, bytes]]:
        if self._few is None:
            return self._load(rows)
        if self._known is None:
            self._known = self._load(self._few)
        return self._known

    def _load(self, ids: list[int]) -> tuple[dict[int, Chunk], dict[int, bytes]]:
        rows = load_chunk_rows(self._database, ids)
        return chunks_from_rows(rows), {row[0]: row[-4] for row in rows}


def load_neighbours(
    database: Database,
    places: Sequence[tuple[str, int]],
    window: int,
    principals: tuple[str, ...],
) -> Iterable[Chunk]:
    """Chunks within `window` of (document id, sequence) places, in one round trip."""
    found: dict[int, Chunk] = {}  # windows of two slices may meet
    for some in iter_batches(places):
        found.update(_neighbours(database, some, window, principals))
    return found.values()


def _neighbours(
    database: Database, places: Sequence[tuple[str, int]], window: int, principals: tuple[str, ...]
) -> dict[int, Chunk]:
    readers, names = readers_query(database, principals)
    marks = ", ".join(["(%s, %s)"] * len(places))
    near = database.sql(
        f"c.id IN (WITH p (document_id, sequence) AS (VALUES {marks}) SELECT c.id FROM p "
        "JOIN {s}.documents AS d ON d.document_id = p.document_id "
        "JOIN {s}.chunks AS c ON c.document = d.id "
        "AND c.sequence BETWEEN p.sequence - %s AND p.sequence + %s "
        "JOIN {s}.scan AS s ON s.chunk = c.id WHERE s.audience IN {readers})",
        readers=readers,
    )
    bound = [value for place in places for value in place]
    rows, named, *who = database.run(
        chunk_statement(database, near, [*bound, window, window, *names]),
        *named_documents_statements(database, [name for name, _ in places]),
        *readers_statements(database, principals),
    )
    mine = {row[0] for row in readers_from_rows(database, who, principals)}
    known = {name: row["places"] for name, row in decode_documents(named).items()}
    chunks = decode_chunk_rows(database, rows)
    wanted = chunks_within(known, places, window)
    if chunks.keys() != {number for number, audience in wanted if audience in mine}:
        raise damage(CHUNK_DAMAGE)
    return chunks_from_rows(chunks.values())


def _scores_by_row(ids: Any, scores: Any, rows: Any) -> Any:
    """BM25 of these rows; 0 of those that no term is in."""
    found = np.zeros(len(rows))
    if len(ids):
        at = np.searchsorted(ids, rows)
        there = ids.take(at, mode="clip") == rows
        found[there] = scores[at[there]]
    return found
