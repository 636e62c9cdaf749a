"""Hybrid search inside one read transaction, and neighbours.

What the request may not read is removed before anything is scored. A leg is ordered by score, then
by the content key (source, sequence, byte offset, id); the fused order by RRF, then by that key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from foveate.core.state import combine_states, state_hash
from foveate.core.text.terms import query_terms
from foveate.core.types import Chunk
from foveate.ports import SearchResult
from foveate.stores.base import Search
from foveate.stores.filters import iter_batches, parse_filters
from foveate.stores.int8 import cosines, nearest, quantise_query
from foveate.stores.lexical import View, read_through_cache, view_for_audiences, view_scores
from foveate.stores.places import chunks_within
from foveate.stores.rows import chunks_from_rows
from foveate.stores.scoring import best_matches, combine_legs
from foveate.stores.sql.audiences import load_audiences
from foveate.stores.sql.contents import (
    decode_documents,
    load_chunk_rows,
    named_documents_statements,
)
from foveate.stores.sqlite.database import SqliteDatabase
from foveate.stores.sqlite.postings import read_postings
from foveate.stores.sqlite.vectors import Scan


def hybrid_search(
    database: SqliteDatabase, scan: Scan, asked: Search, *, embedder: str
) -> SearchResult:
    """The search in this transaction; `embedder`: its name, for the state root."""
    view, state = _view_for_principals(database, scan, asked.principals)

    def read(terms: Sequence[str]) -> dict[str, tuple[Any, Any]]:
        return read_through_cache(
            scan, terms, lambda missing: read_postings(database.connection, scan, missing)
        )

    wanted = _filter_mask(view, [read(facts) for facts in parse_filters(asked.where)])
    aim = quantise_query(asked.vector, scan.vectors.shape[1])
    nothing = np.empty(0, dtype=np.int64)
    close = nearest(scan, aim, wanted, asked.depth) if aim is not None else nothing
    terms = query_terms(asked.query)
    scores = view_scores(read(terms), view) if terms else None
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
    for some in iter_batches(places):
        (rows,) = database.run(*named_documents_statements(database, [name for name, _ in some]))
        known = {name: row["places"] for name, row in decode_documents(rows).items()}
        near = chunks_within(known, some, window)
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


def _filter_mask(view: View, filters: Iterable[Mapping[str, tuple[Any, Any]]]) -> Any:
    """Booleans by position, of the readable rows that the filters want; None for all there are.

    `filters`: of each, the postings of the facts of which a row has one.
    """
    wanted = view.mask
    for facts in filters:
        matching = np.zeros(len(view.damping), dtype=bool)
        for positions, _ in facts.values():
            matching[positions] = True
        wanted = matching if wanted is None else matching & wanted
    return wanted
