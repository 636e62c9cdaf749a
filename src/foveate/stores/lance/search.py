"""Hybrid search in one version of a Lance store, and neighbours.

Answers equal those of the embedded store to the bit where every row is compared. Beyond `exact`
rows Lance's index names candidates; their cosines are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from blake3 import blake3

from foveate.core.state import state_hash
from foveate.core.text.terms import query_terms
from foveate.core.types import Chunk
from foveate.ports import SearchResult
from foveate.stores.base import Search
from foveate.stores.filters import iter_batches
from foveate.stores.int8 import cosine_similarities, cosines, nearest, quantise_query
from foveate.stores.lance import labels
from foveate.stores.lance.files import Snapshot
from foveate.stores.lance.labels import in_condition
from foveate.stores.lance.postings import read_places
from foveate.stores.lance.scan import Scan, vectors_from_column
from foveate.stores.lance.schema import LOCAL_BITS, POSTING_COLUMNS
from foveate.stores.lexical import View, read_through_cache, view_scores
from foveate.stores.outlines import is_near
from foveate.stores.rows import HANDED_OUT, chunks_from_rows
from foveate.stores.scoring import (
    best_matches,
    best_positions,
    combine_legs,
    decode_places,
)


def lexical_scores(snapshot: Snapshot, scan: Scan, terms: Sequence[str], view: View) -> Any:
    """BM25 of every row, by position; statistics are of what the view holds alone."""
    return view_scores(
        read_through_cache(scan, terms, lambda missing: _read_postings(snapshot, scan, missing)),
        view,
    )


def _read_postings(snapshot: Snapshot, scan: Scan, terms: Sequence[str]) -> list[tuple[Any, Any]]:
    """Per term: positions in the scan, and how often."""
    read = []
    for some in iter_batches(terms):
        rows = snapshot.read_rows("postings", POSTING_COLUMNS, in_condition("term", some))
        if rows is None:
            return [(np.zeros(0, np.int32), np.zeros(0, np.uint16))] * len(terms)
        lengths, places = read_places(rows.column("places"))
        local, counts = decode_places(places)
        keys = (np.repeat(rows.column("segment").to_numpy(), lengths) << LOCAL_BITS) + local
        positions, live = scan.positions(keys)
        number = pc.index_in(rows.column("term"), pa.array(some)).to_numpy()
        owner = np.repeat(number, lengths)[live]
        order = np.argsort(owner, kind="stable")
        positions, counts = positions[live][order].astype(np.int32), counts[live][order]
        bounds = np.searchsorted(owner[order], np.arange(len(some) + 1)).tolist()
        read += [(positions[start:end], counts[start:end]) for start, end in pairwise(bounds)]
    return read


_OVERSAMPLING = 10
_PROBES = 64
_BLOCK = 65_536
_MAX_INT64 = 2**63 - 1
VECTOR_INDEX = "vector_idx"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchContext:
    """One version of the store, with what is in memory of it."""

    snapshot: Snapshot
    scan: Scan
    dimensions: int

    def take_rows(self, rows: Any, columns: Sequence[str]) -> Any:
        """These rows of the table (positions), in the order given."""
        return self.snapshot.dataset._take_rows(  # noqa: SLF001 (the only way to rows by address)
            self.scan.addresses(rows).tolist(), columns=list(columns)
        )

    def cosines(self, aim: Any, rows: Any) -> Any:
        """Of these rows, float64; read block by block where vectors stay in the store."""
        if self.scan.vectors is not None:
            return cosines(self.scan, aim, rows)
        found = np.zeros(len(rows))
        for start in range(0, len(rows), _BLOCK):
            some = self.take_rows(rows[start : start + _BLOCK], ["vector"])
            vectors = vectors_from_column(some.column("vector"), self.dimensions)
            found[start : start + _BLOCK] = cosine_similarities(vectors, aim)
        return found


def hybrid_search(ground: SearchContext, asked: Search, *, embedder: str) -> SearchResult:
    """The search in this version; `embedder`: its name, for the state root."""
    depth, audiences = asked.depth, ground.snapshot.head.audiences_for(asked.principals)
    said = labels.where_condition(asked.where) if asked.where else None
    aim = quantise_query(asked.vector, ground.dimensions)
    view = ground.scan.view(audiences)
    wanted = view.mask if said is None else _filter_mask(ground, view, said)
    conditions = [labels.in_condition("audience", audiences), *([said] if said else [])]
    close, index = _nearest_rows(ground, aim, wanted, depth, conditions)
    terms = query_terms(asked.query)
    scores = lexical_scores(ground.snapshot, ground.scan, terms, view) if terms else None
    hits = best_matches(scores, wanted, depth)
    columns = [*HANDED_OUT, "vector"] if ground.dimensions else list(HANDED_OUT)
    return combine_legs(
        close,
        hits,
        bm25=None if scores is None else scores.take,
        cosines=None if aim is None else lambda rows: ground.cosines(aim, rows),
        load=lambda rows: _build_chunks(ground.take_rows(rows, columns), ground.dimensions),
        depth=depth,
        limit=asked.limit,
        index=index,
        state_root=state_hash(ground.snapshot.head.state(audiences), embedder=embedder),
    )


def load_neighbours(
    snapshot: Snapshot,
    dimensions: int,
    places: Sequence[tuple[str, int]],
    window: int,
    audiences: Sequence[int],
) -> list[Chunk]:
    """Chunks within `window` of the places, in one request, in no order."""
    wanted: dict[str, list[int]] = {}
    for name, at in sorted(places):
        wanted.setdefault(name, []).append(at)
    reach = _merge_intervals((at for _, at in places), window)
    if not reach:
        return []
    said = " AND ".join(
        (
            labels.in_condition("document_id", sorted(wanted)),
            f"({' OR '.join(_between_condition(*one) for one in reach)})",
            labels.in_condition("audience", audiences),
        )
    )
    columns = [*HANDED_OUT, "vector"] if dimensions else list(HANDED_OUT)
    found = snapshot.read_rows("chunks", columns, said)
    if found is None:
        return []
    made = _build_chunks(found, dimensions)
    return [one for one in made if is_near(wanted[one.document_id], one.sequence, window)]


def _merge_intervals(places: Iterable[int], window: int) -> list[tuple[int, int]]:
    """The windows around the places as intervals, ends included, joined, within 64 bits."""
    found: list[tuple[int, int]] = []
    for at in sorted(set(places)):
        start, end = max(at - window, -_MAX_INT64 - 1), min(at + window, _MAX_INT64)
        if start > end or end < -_MAX_INT64:
            continue
        if found and start <= found[-1][1] + 1:
            start = found.pop()[0]
        found.append((start, end))
    return found


def _between_condition(start: int, end: int) -> str:
    """A condition without the least int64, which Lance reads as a fraction."""
    least = start < -_MAX_INT64
    return f"`sequence` <= {end}" if least else f"`sequence` BETWEEN {start} AND {end}"


def _vector_index(snapshot: Snapshot) -> str:
    """The name of the vector index in results, empty without one.

    It is made of the index's parts: the table's version would reveal hidden writes.
    """
    for index in snapshot.dataset.describe_indices():
        if index.name == VECTOR_INDEX:
            parts = sorted(str(one.uuid) for one in index.segments)
            return f"lance ivf_rq {blake3(' '.join(parts).encode()).hexdigest()[:16]}"
    return ""


def _filter_mask(ground: SearchContext, view: View, said: str) -> Any:
    """Booleans by position, of the readable rows that the filter wants."""
    matching = np.zeros(len(ground.scan.ids), dtype=bool)
    found = ground.snapshot.read_rows("chunks", ["key"], said)
    if found is not None:
        positions, live = ground.scan.positions(found.column(0).to_numpy())
        matching[positions[live]] = True
    return matching if view.mask is None else matching & view.mask


def _nearest_rows(
    ground: SearchContext, aim: Any, wanted: Any, depth: int, conditions: Sequence[str]
) -> tuple[Any, str]:
    """Positions, ascending, of the best by vector; and the index that named them, if one did."""
    if aim is None:
        return np.empty(0, dtype=np.int64), ""
    scan = ground.scan
    if scan.vectors is not None:
        return nearest(scan, aim, wanted, depth), ""
    rows = np.arange(len(scan.ids)) if wanted is None else np.flatnonzero(wanted)
    index = _vector_index(ground.snapshot) if len(rows) > depth * _OVERSAMPLING else ""
    if index:
        rows = _search_index(ground, aim, depth, conditions)
    return rows[best_positions(ground.cosines(aim, rows), depth)], index


def _search_index(ground: SearchContext, aim: Any, depth: int, conditions: Sequence[str]) -> Any:
    """Positions, ascending, of what Lance's index takes for near."""
    found = ground.snapshot.dataset.scanner(
        columns=["key", "_distance"],
        nearest={
            "column": "vector",
            "q": aim.astype(np.float32),
            "k": depth * _OVERSAMPLING,
            "nprobes": _PROBES,
            "metric": "cosine",
        },
        filter=" AND ".join(f"({one})" for one in conditions),
        prefilter=True,
    ).to_table()
    positions, live = ground.scan.positions(found.column("key").to_numpy())
    return np.unique(positions[live])


def _build_chunks(found: Any, dimensions: int) -> list[Chunk]:
    columns = [found.column(name).to_pylist() for name in HANDED_OUT]
    if dimensions:
        vectors = [row.tobytes() for row in vectors_from_column(found.column("vector"), dimensions)]
    else:
        vectors = [b""] * found.num_rows
    rows = zip(range(found.num_rows), *columns, vectors, strict=True)
    return list(chunks_from_rows(rows).values())
