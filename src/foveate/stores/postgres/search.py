"""Hybrid search inside one snapshot, and neighbours.

Vectors are compared on the server (`half_vectors.py`). Words are scored here, from the packed
postings of readable audiences, so nothing that the request may not read leaves the server.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from foveate.core.text.terms import query_terms
from foveate.core.types import Chunk
from foveate.ports import SearchResult
from foveate.stores.base import Search
from foveate.stores.checksums import damage
from foveate.stores.filters import parse_filters
from foveate.stores.int8 import cosine_similarities, quantise_query
from foveate.stores.places import chunks_within
from foveate.stores.postgres import checksums, half_vectors, postings
from foveate.stores.postgres.postings import scope_key
from foveate.stores.postgres.statements import StoreContext
from foveate.stores.rows import chunks_from_rows
from foveate.stores.scoring import SLICE, best_matches, combine_legs
from foveate.stores.sql.audiences import (
    compute_state_root,
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
from foveate.stores.sql.database import Statement

_NO_JIT = Statement("SELECT set_config('jit', 'off', true)")
"""Compiling such a statement takes longer than running it."""


def hybrid_search(store: StoreContext, asked: Search) -> SearchResult:
    """The search in this snapshot; filters apply before the legs are cut."""
    depth, principals = asked.depth, asked.principals
    aim = quantise_query(asked.vector, store.dimensions)
    filters = parse_filters(asked.where)
    terms = query_terms(asked.query)
    (_, ((indexed, _),), *who) = store.run(
        _NO_JIT,
        half_vectors.index_status_statement(store),
        *readers_statements(store, principals),
    )
    readable = readers_from_rows(store, who, principals)
    audiences = [row[0] for row in readable]
    total, words = sum(row[4] for row in readable), sum(row[5] for row in readable)
    mine = scope_key(readable)
    needed = {*terms, *(fact for facts in filters for fact in facts)}
    found = store.cache.get(mine, needed)
    (read,) = store.run(_postings_statement(store, audiences, sorted(needed - found.keys())))
    places = {term: postings.verified(term, data or b"", int(sum_)) for term, data, sum_ in read}
    store.cache.put(mine, places)
    found |= places
    matching = postings.matching_rows(found, filters)
    scope = half_vectors.Scope(store=store, audiences=audiences, matching=matching, depth=depth)
    many = total if matching is None else len(matching)
    exactly = aim is None or not indexed or many <= store.exact
    ids, scores = postings.score_postings(found, terms, total=total, words=words)
    wanted = None if matching is None else np.isin(ids, matching)
    hits = ids[best_matches(scores if terms else None, wanted, depth)]
    near = np.empty(0, dtype=np.int64)
    if aim is not None:
        # Where few rows match, the index finds too few of them, and a scan is cheap. Few of those
        # that may be read: what others may read decides nothing.
        by_index = not exactly and many * half_vectors.INDEX_SELECTIVITY >= total
        if not by_index and not store.cache.is_compared(mine):
            (rows,) = store.run(checksums.compared(store, audiences))
            checksums.refuse_other(rows, readable)
            store.cache.note_compared(mine)
        near = np.unique(half_vectors.nearest_rows(scope, aim, by_index=by_index))
    found_rows = _FoundRows(store, np.union1d(near, hits))
    return combine_legs(
        near,
        hits,
        bm25=lambda rows: _scores_by_row(ids, scores, rows),
        cosines=None if aim is None else lambda rows: found_rows.cosines(rows, aim),
        load=found_rows.load,
        depth=depth,
        limit=asked.limit,
        index="" if exactly else "pgvector hnsw",
        state_root=compute_state_root(store, readable),
    )


class _FoundRows:
    """The rows that a search found, read once if they are few, and else slice by slice."""

    def __init__(self, store: StoreContext, rows: Any) -> None:
        self._store = store
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
        rows = load_chunk_rows(self._store, ids)
        return chunks_from_rows(rows), {row[0]: row[-4] for row in rows}


def load_neighbours(
    store: StoreContext,
    places: Sequence[tuple[str, int]],
    window: int,
    principals: tuple[str, ...],
) -> Iterable[Chunk]:
    """Chunks within `window` of (document id, sequence) places."""
    readers, names = readers_query(store, principals)
    near = store.sql(
        "c.id IN (SELECT c.id FROM unnest(%s::text[], %s::bigint[]) AS p (document_id, sequence) "
        "JOIN {s}.documents AS d ON d.document_id = p.document_id "
        "JOIN {s}.chunks AS c ON c.document = d.id "
        "AND c.sequence BETWEEN p.sequence - %s AND p.sequence + %s "
        "JOIN {s}.scan AS s ON s.chunk = c.id WHERE s.audience IN {readers})",
        readers=readers,
    )
    documents, sequences = [place[0] for place in places], [place[1] for place in places]
    (rows, named, *found) = store.run(
        chunk_statement(store, near, [documents, sequences, window, window, *names]),
        *named_documents_statements(store, documents),
        *readers_statements(store, principals),
    )
    mine = {row[0] for row in readers_from_rows(store, found, principals)}
    known = {name: row["places"] for name, row in decode_documents(named).items()}
    wanted = chunks_within(known, places, window)
    chunks = decode_chunk_rows(store, rows)
    if chunks.keys() != {number for number, audience in wanted if audience in mine}:
        raise damage(CHUNK_DAMAGE)
    return chunks_from_rows(chunks.values()).values()


def _postings_statement(
    store: StoreContext, audiences: Sequence[int], terms: Sequence[str]
) -> Statement:
    """The places of each term as one value; a term at a time, so that nothing is sorted."""
    query = (
        "SELECT t.term, (SELECT string_agg(p.places, ''::bytea) FROM {s}.postings AS p "
        "WHERE p.term = t.term AND p.audience = ANY(%s::integer[])), "
        "(SELECT coalesce(sum(w.checksum), 0) FROM {s}.terms AS w "
        "WHERE w.term = t.term AND w.audience = ANY(%s::integer[])) "
        "FROM unnest(%s::text[]) AS t (term)"
    )
    return store.statement(query, [list(audiences), list(audiences), list(terms)])


def _scores_by_row(ids: Any, bm25: Any, rows: Any) -> Any:
    """BM25 of these rows; 0 of those that no term is in."""
    found = np.zeros(len(rows))
    if len(ids):
        at = np.searchsorted(ids, rows)
        there = ids.take(at, mode="clip") == rows
        found[there] = bm25[at[there]]
    return found
