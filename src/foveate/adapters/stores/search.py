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
from foveate.adapters.stores.nearby import Indexes, Nearby, candidates, held_by
from foveate.adapters.stores.nearest import cosines, nearest
from foveate.adapters.stores.ranking import Key, best, fuse, matched, ordered, refuse_nothing
from foveate.adapters.stores.readable import View, view_of
from foveate.adapters.stores.rows import SELECT_CHUNK, chunks_of
from foveate.adapters.stores.vectors import Scan
from foveate.core.made import maker
from foveate.core.text.terms import query_terms
from foveate.core.types import Candidate, Chunk, Vector
from foveate.ports import Found

_candidate = maker(Candidate)


def find(
    connection: sqlite3.Connection,
    scan: Scan,
    indexes: Indexes,
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
    view = view_of(connection, scan, principals)
    wanted = _wanted(connection, scan, view, where)
    aim = direction(vector, scan.vectors.shape[1])
    nothing = np.empty(0, dtype=np.int64)
    close, used = nothing, list[Nearby]()
    if aim is not None:
        close, used = _close(scan, aim, wanted, depth, indexes.of(connection, view))
    scores = _lexical(connection, scan, view, query)
    hits = matched(scores, wanted, depth)
    rows = np.union1d(close, hits)
    cosine: Any = cosines(scan, aim, rows) if aim is not None else None
    bm25 = scores[rows] if scores is not None else np.zeros(len(rows))
    keys = _keys(connection, scan, rows)
    semantic = ordered(close, keys, cosine[np.isin(rows, close)], depth) if len(close) else []
    words = ordered(hits, keys, bm25[np.isin(rows, hits)], depth)
    fused = fuse(semantic, words, limit)
    scored = {
        row: (None if cosine is None else float(cosine[at]), float(bm25[at]) or None)
        for at, row in enumerate(rows.tolist())
    }
    return Found(
        candidates=_candidates(connection, scan, fused, scored),
        badge="hybrid" if words else "vector_only",
        lexical_matches=len(words),
        exact=not used,
        index=", ".join(nearby.version for nearby in used),
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


def _wanted(
    connection: sqlite3.Connection, scan: Scan, view: View, where: Mapping[str, Any] | None
) -> Any:
    """Booleans by position, of the readable rows that the filter wants; None for all there are."""
    import numpy as np

    if not where:
        return view.mask
    condition, bound = filters.where_condition(where)
    query = (
        f"SELECT c.id FROM chunks AS c JOIN documents AS d ON d.id = c.document WHERE {condition}"
    )
    ids = np.fromiter((row[0] for row in connection.execute(query, bound)), dtype=np.int64)
    matching = np.zeros(len(scan.ids), dtype=bool)
    matching[np.searchsorted(scan.ids, ids)] = True
    return matching if view.mask is None else matching & view.mask


def _close(
    scan: Scan, aim: Any, wanted: Any, depth: int, indexes: Sequence[Nearby]
) -> tuple[Any, list[Nearby]]:
    """Positions of the nearest rows, and by which indexes some of them were found."""
    import numpy as np

    near, used, left = [], [], wanted
    for nearby in indexes:
        found = candidates(scan, nearby, aim, wanted, depth)
        if found is not None:
            near.append(found)
            used.append(nearby)
            others = ~held_by(scan, nearby)
            left = others if left is None else left & others
    if left is None or left.any():
        near.append(nearest(scan, aim, left, depth))
    rows = np.unique(np.concatenate(near)) if near else np.empty(0, dtype=np.int64)
    return rows[best(cosines(scan, aim, rows), depth)] if used else rows, used


def _lexical(connection: sqlite3.Connection, scan: Scan, view: View, query: str) -> Any:
    """BM25 by position; None where the query has no terms."""
    terms = query_terms(query)
    return lexical.bm25(lexical.postings(connection, scan, terms), view) if terms else None


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
    scored: Mapping[int, tuple[float | None, float | None]],
) -> tuple[Candidate, ...]:
    ids = {row: int(scan.ids[row]) for row, _ in fused}
    query = f"{SELECT_CHUNK} WHERE c.id IN (SELECT value FROM json_each(?))"
    found = connection.execute(query, (json.dumps(list(ids.values())),))
    chunks = chunks_of(found)
    return tuple(
        _candidate(
            chunk=chunks[ids[row]],
            score=score,
            semantic_score=scored[row][0],
            lexical_score=scored[row][1],
        )
        for row, score in fused
    )
