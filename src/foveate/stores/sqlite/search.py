"""Hybrid search inside one read transaction, and neighbours.

What the request may not read is removed before anything is scored. A leg is ordered by score, then
by the content key (source, sequence, byte offset, id); the fused order by RRF, then by that key.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any

import numpy as np

from foveate.core.state import state_hash
from foveate.core.text.terms import query_terms
from foveate.core.types import Chunk, Vector
from foveate.ports import SearchResult
from foveate.stores import filters, lexical, outlines
from foveate.stores.checksums import damage, intact
from foveate.stores.int8 import cosines, nearest, quantise_query
from foveate.stores.lexical import View
from foveate.stores.rows import SELECT_CHUNK, chunks_from_rows
from foveate.stores.scoring import (
    best_keys,
    best_matches,
    check_limits,
    fuse,
    search_result,
)
from foveate.stores.vectors import Scan

_WHAT = "a chunk is not as it was written"


def hybrid_search(
    connection: Connection,
    scan: Scan,
    query: str,
    vector: Vector | None,
    *,
    facts: Mapping[str, Any],
    limit: int,
    depth: int,
    principals: Iterable[str],
    where: Mapping[str, Any] | None,
) -> SearchResult:
    """See `foveate.ports.Store.search`; `facts`: of the store, in this transaction."""
    check_limits(limit, depth)
    view, state = lexical.view_for_principals(connection, scan, principals)
    wanted = _filter_mask(connection, scan, view, where)
    aim = quantise_query(vector, scan.vectors.shape[1])
    nothing = np.empty(0, dtype=np.int64)
    close = nearest(scan, aim, wanted, depth) if aim is not None else nothing
    terms = query_terms(query)
    found = lexical.read_through_cache(
        scan, terms, lambda missing: lexical.read_postings(connection, scan, missing)
    )
    scores = lexical.bm25(found, view) if terms else None
    hits = best_matches(scores, wanted, depth)
    rows = np.union1d(close, hits)
    cosine: Any = cosines(scan, aim, rows) if aim is not None else None
    bm25 = scores[rows] if scores is not None else np.zeros(len(rows))
    # Where all that may come first can be handed out, it is read once.
    whole = len(rows) <= limit
    noted = (_rows if whole else _load_sort_keys)(connection, scan.ids[rows].tolist())
    keys = {
        row: (*(_key_of(noted[number]) if whole else noted[number][1:-1]), row)
        for number, row in zip(scan.ids[rows].tolist(), rows.tolist(), strict=True)
    }
    semantic = best_keys(close, keys, cosine[np.isin(rows, close)], depth) if len(close) else []
    words = best_keys(hits, keys, bm25[np.isin(rows, hits)], depth)
    fused = fuse(semantic, words, limit)
    ids = {row: int(scan.ids[row]) for row, _ in fused}
    if not whole:
        # What is handed out is verified as a whole.
        deque(intact((noted[one] for one in noted.keys() - ids.values()), _WHAT), maxlen=0)
        noted = _rows(connection, list(ids.values()))
    chunks = chunks_from_rows(noted[number] for number in ids.values())
    return search_result(
        fused,
        {row: chunks[number] for row, number in ids.items()},
        None if cosine is None else dict(zip(rows.tolist(), cosine.tolist(), strict=True)),
        dict(zip(rows.tolist(), bm25.tolist(), strict=True)),
        lexical_matches=len(words),
        index="",
        state_root=state_hash(state, embedder=facts["embedder"]),
    )


def load_neighbours(
    connection: Connection,
    places: Sequence[tuple[str, int]],
    window: int,
    audiences: Collection[int],
) -> dict[int, Chunk]:
    """Row id → chunk within `window` of the places, in a few statements."""
    known = outlines.load_places(connection, sorted({name for name, _ in places}))
    ids = [
        number
        for number, audience in outlines.chunks_within(known, places, window)
        if audience in audiences
    ]
    return chunks_from_rows(_rows(connection, ids).values())


def _filter_mask(
    connection: Connection, scan: Scan, view: View, where: Mapping[str, Any] | None
) -> Any:
    """Booleans by position, of the readable rows that the filter wants; None for all there are."""
    if not where:
        return view.mask
    found, again = (
        np.fromiter((row[0] for row in connection.execute(*query)), dtype=np.int64)
        for query in filters.matching(where)
    )
    ids = np.sort(found)
    if not np.array_equal(ids, np.sort(again)) or not np.isin(ids, scan.ids).all():
        raise damage("what a filter asks for is not as it was written")
    matching = np.zeros(len(scan.ids), dtype=bool)
    matching[np.searchsorted(scan.ids, ids)] = True
    return matching if view.mask is None else matching & view.mask


def _load_sort_keys(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Row id → row id, what the order is by, and the checksum of these."""
    query = (
        "SELECT c.id, d.source, c.sequence, coalesce(c.byte_offset, 0), c.chunk_id, c.key_checksum "
        "FROM chunks AS c JOIN documents AS d ON d.id = c.document "
        "WHERE c.id IN (SELECT value FROM json_each(?))"
    )
    return _all(connection.execute(query, (json.dumps(ids),)), ids)


def _rows(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Row id → all that `chunks_from_rows` reads, held to its checksum."""
    query = f"{SELECT_CHUNK} WHERE c.id IN (SELECT value FROM json_each(?))"
    return _all(intact(connection.execute(query, (json.dumps(ids),)), _WHAT), ids)


def _all(rows: Iterable[tuple[Any, ...]], ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """The rows by their ids, each of which there is to be."""
    found = {row[0]: row for row in rows}
    if len(found) != len(ids):
        raise damage(_WHAT)
    return found


def _key_of(row: Sequence[Any]) -> tuple[str, int, int, str]:
    """What the order is by, of a row of `_rows`."""
    return row[3], row[5], row[8] or 0, row[1]
