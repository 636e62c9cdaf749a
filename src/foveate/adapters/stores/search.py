"""Hybrid search inside one read transaction: filter, two legs, fuse, fetch; and neighbours.

Rules: what the request may not read is taken out before anything is scored or counted; each leg
is ordered by score, then by the content key (source, sequence, byte offset, id), which also
decides who stands at the end of a leg; the fused order is by RRF, then by the same key.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foveate.adapters.stores import filters, lexical
from foveate.adapters.stores.int8 import direction
from foveate.adapters.stores.ranking import Key, fuse, ordered, refuse_nothing, top
from foveate.adapters.stores.rows import SELECT_CHUNK, chunks_of
from foveate.adapters.stores.vectors import Scan, cosines
from foveate.core.text.terms import query_terms
from foveate.core.types import Candidate, Chunk, Vector
from foveate.ports import Found


def find(
    connection: sqlite3.Connection,
    scan: Scan,
    query: str,
    vector: Vector | None,
    *,
    limit: int,
    depth: int,
    principals: Iterable[str],
    where: Mapping[str, Any] | None,
) -> Found:
    """See `foveate.ports.Store.search`."""
    import numpy as np

    refuse_nothing(limit, depth)
    readable = _readable(connection, scan, principals)
    wanted = readable & _matching(connection, scan, where) if where else readable
    rows = np.flatnonzero(wanted)
    cosine = _semantic(scan, vector, rows)
    bm25 = np.zeros(len(scan.ids))
    terms = query_terms(query)
    if terms:
        found = lexical.postings(connection, scan, terms)
        bm25 = lexical.bm25(found, scan.terms, readable)
    near = top(rows, cosine[rows], depth) if cosine is not None else rows[:0]
    hits = rows[bm25[rows] > 0]
    hits = top(hits, bm25[hits], depth)
    keys = _keys(connection, scan, np.union1d(near, hits))
    semantic = ordered(near, keys, cosine[near], depth) if cosine is not None else []
    lexical_leg = ordered(hits, keys, bm25[hits], depth)
    fused = fuse(semantic, lexical_leg, limit)
    return Found(
        candidates=_candidates(connection, scan, fused, cosine, bm25),
        badge="hybrid" if lexical_leg else "vector_only",
        lexical_matches=len(lexical_leg),
    )


def near(
    connection: sqlite3.Connection,
    places: Sequence[tuple[str, int]],
    window: int,
    principals: Iterable[str],
) -> dict[int, Chunk]:
    """Row id → chunk of what stands within `window` of the places; one statement."""
    allowed, bound = filters.audiences(principals)
    # CROSS JOIN keeps this order: from the places through both indexes to the chunks.
    query = f"""
        WITH places (document_id, sequence) AS (VALUES {",".join(["(?,?)"] * len(places))}),
        near AS (
            SELECT DISTINCT c.id FROM places
            CROSS JOIN documents AS d ON d.document_id = places.document_id
            CROSS JOIN chunks AS c ON c.document = d.id
                AND c.sequence BETWEEN places.sequence - ? AND places.sequence + ?
        )
        {SELECT_CHUNK} WHERE c.id IN near AND c.audience IN ({allowed})"""
    flat = [value for place in places for value in place]
    return chunks_of(connection.execute(query, [*flat, window, window, *bound]))


def _readable(connection: sqlite3.Connection, scan: Scan, principals: Iterable[str]) -> Any:
    import numpy as np

    query, bound = filters.audiences(principals)
    allowed = [row[0] for row in connection.execute(query, bound)]
    return np.isin(scan.audiences, np.array(allowed, dtype=np.int32))


def _matching(connection: sqlite3.Connection, scan: Scan, where: Mapping[str, Any]) -> Any:
    import numpy as np

    condition, bound = filters.where_condition(where)
    query = (
        f"SELECT c.id FROM chunks AS c JOIN documents AS d ON d.id = c.document WHERE {condition}"
    )
    ids = np.fromiter((row[0] for row in connection.execute(query, bound)), dtype=np.int64)
    return np.isin(scan.ids, ids)


def _semantic(scan: Scan, vector: Vector | None, rows: Any) -> Any:
    """Cosines by position, of these rows; None without a vector, or for one of no direction."""
    import numpy as np

    query = direction(vector, scan.vectors.shape[1])
    if query is None:
        return None
    found = np.zeros(len(scan.ids))
    found[rows] = cosines(scan, query, rows)
    return found


def _keys(connection: sqlite3.Connection, scan: Scan, rows: Any) -> dict[int, Key]:
    position = dict(zip(scan.ids[rows].tolist(), rows.tolist(), strict=True))
    query = (
        "SELECT c.id, d.source, c.sequence, coalesce(c.byte_offset, 0), c.chunk_id "
        "FROM chunks AS c JOIN documents AS d ON d.id = c.document "
        "WHERE c.id IN (SELECT value FROM json_each(?))"
    )
    found = connection.execute(query, (json.dumps(list(position)),))
    return {position[row[0]]: (*row[1:], position[row[0]]) for row in found}


def _candidates(
    connection: sqlite3.Connection,
    scan: Scan,
    fused: list[tuple[int, float]],
    cosine: Any,
    bm25: Any,
) -> tuple[Candidate, ...]:
    ids = {row: int(scan.ids[row]) for row, _ in fused}
    query = f"{SELECT_CHUNK} WHERE c.id IN (SELECT value FROM json_each(?))"
    found = connection.execute(query, (json.dumps(list(ids.values())),))
    chunks = chunks_of(found)
    return tuple(
        Candidate(
            chunk=chunks[ids[row]],
            score=score,
            semantic_score=None if cosine is None else float(cosine[row]),
            lexical_score=float(bm25[row]) or None,
        )
        for row, score in fused
    )
