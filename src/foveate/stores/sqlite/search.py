"""Hybrid search inside one read transaction, and neighbours.

What the request may not read is removed before anything is scored. A leg is ordered by score, then
by the content key (source, sequence, byte offset, id); the fused order by RRF, then by that key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any

import numpy as np

from foveate.core.state import combine_states, state_hash
from foveate.core.text.terms import query_terms
from foveate.core.types import Chunk
from foveate.ports import SearchResult
from foveate.stores import filters, outlines
from foveate.stores.base import Search
from foveate.stores.checksums import damage
from foveate.stores.int8 import cosines, nearest, quantise_query
from foveate.stores.lexical import View, read_through_cache, view_for_audiences, view_scores
from foveate.stores.rows import chunks_from_rows
from foveate.stores.scoring import best_matches, combine_legs
from foveate.stores.sql.audiences import load_audiences
from foveate.stores.sql.contents import load_chunk_rows, outline_statements, places_from_rows
from foveate.stores.sqlite.database import SqliteDatabase
from foveate.stores.sqlite.postings import read_postings
from foveate.stores.sqlite.vectors import Scan


def hybrid_search(
    database: SqliteDatabase, scan: Scan, asked: Search, *, embedder: str
) -> SearchResult:
    """The search in this transaction; `embedder`: its name, for the state root."""
    view, state = _view_for_principals(database, scan, asked.principals)
    wanted = _filter_mask(database.connection, scan, view, asked.where)
    aim = quantise_query(asked.vector, scan.vectors.shape[1])
    nothing = np.empty(0, dtype=np.int64)
    close = nearest(scan, aim, wanted, asked.depth) if aim is not None else nothing
    terms = query_terms(asked.query)
    found = read_through_cache(
        scan, terms, lambda missing: read_postings(database.connection, scan, missing)
    )
    scores = view_scores(found, view) if terms else None
    hits = best_matches(scores, wanted, asked.depth)

    def load(rows: Any) -> list[Chunk]:
        found = load_chunk_rows(database, scan.ids[rows].tolist())
        return list(chunks_from_rows(found).values())

    return combine_legs(
        close,
        hits,
        bm25=None if scores is None else scores.take,
        cosines=None if aim is None else lambda rows: cosines(scan, aim, rows),
        load=load,
        depth=asked.depth,
        limit=asked.limit,
        index="",
        state_root=state_hash(state, embedder=embedder),
    )


def load_neighbours(
    database: SqliteDatabase,
    places: Sequence[tuple[str, int]],
    window: int,
    principals: tuple[str, ...],
) -> Iterable[Chunk]:
    """Chunks within `window` of (document id, sequence) places, in a few statements."""
    allowed = {audience[0] for audience in load_audiences(database, principals)}
    found: dict[int, Chunk] = {}  # windows of two slices may meet
    for some in filters.iter_batches(places):
        read = database.run(*outline_statements(database, [name for name, _ in some]))
        near = outlines.chunks_within(places_from_rows(*read), some, window)
        ids = [number for number, audience in near if audience in allowed]
        found.update(chunks_from_rows(load_chunk_rows(database, ids)))
    return found.values()


def _view_for_principals(
    database: SqliteDatabase, scan: Scan, principals: Iterable[str]
) -> tuple[View, bytes]:
    """What these principals may read, and the lattice hash of it."""
    names = ("readers", *sorted(set(principals)))
    known: tuple[tuple[int, ...], bytes] | None = scan.cache.get(names)
    if known is None:
        found = load_audiences(database, names[1:])
        known = tuple(row[0] for row in found), combine_states(row[2] for row in found)
        scan.cache.put(names, known)
    return view_for_audiences(scan, known[0]), known[1]


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
