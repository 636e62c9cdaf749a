"""Hybrid search in one version of the store: filter, two legs, fuse, fetch; and neighbours.

Rules: as in the embedded store, with the same functions, so that answers are equal to the bit
where every row is compared (`exact`). Beyond, Lance's index names candidates among the readable
and matching rows, `_OVER` times as many as asked for; their cosines are exact, so only who is
among them is the index's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foveate.adapters.stores.int8 import cosines_of, direction
from foveate.adapters.stores.lance import labels, lexical
from foveate.adapters.stores.lance.scan import Scan, vectors_of
from foveate.adapters.stores.lance.snapshot import Snapshot
from foveate.adapters.stores.ranking import Key, fuse, ordered, refuse_nothing, top
from foveate.adapters.stores.rows import chunks_of
from foveate.core.text.terms import query_terms
from foveate.core.types import Candidate, Chunk, Vector
from foveate.ports import Found

_OVER = 10
_PROBES = 64
_BLOCK = 65_536
INDEX = "vector_idx"

_CHUNK = (
    *("chunk_id", "document_id", "source", "title", "sequence", "start", "end", "byte_offset"),
    *("page", "section", "row", "line", "summary", "modified_at", "principals", "metadata"),
    *("content_hash", "text"),
)
"""In the order in which `rows.chunks_of` reads them, the vector behind."""
_KEY = ("source", "sequence", "byte_offset", "chunk_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One search. `audiences`: those that the reader belongs to."""

    query: str
    vector: Vector | None
    limit: int
    depth: int
    audiences: Sequence[int]
    where: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """One version of the store, with what is in memory of it."""

    snapshot: Snapshot
    scan: Scan
    dimensions: int

    def taken(self, rows: Any, columns: Sequence[str]) -> Any:
        """These rows of the table (positions), in the order given."""
        return self.snapshot.dataset._take_rows(  # noqa: SLF001 (the only way to rows by address)
            self.scan.addresses(rows).tolist(), columns=list(columns)
        )

    def cosines(self, query: Any, rows: Any) -> Any:
        """Of rows whose vectors are not in memory, block by block."""
        import numpy as np

        found = np.zeros(len(rows))
        for start in range(0, len(rows), _BLOCK):
            some = self.taken(rows[start : start + _BLOCK], ["vector"])
            vectors = vectors_of(some.column("vector"), self.dimensions)
            found[start : start + _BLOCK] = cosines_of(vectors, query)
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leg:
    """By vector: rows worth ordering, cosines by position, and whether all rows were compared."""

    rows: Any
    cosines: Any
    exact: bool = True


def find(view: View, asked: Asked) -> Found:
    """See `foveate.ports.Store.search`."""
    import numpy as np

    refuse_nothing(asked.limit, asked.depth)
    scan = view.scan
    query = direction(asked.vector, view.dimensions)
    said = labels.condition(asked.where) if asked.where else None
    readable = scan.readable(asked.audiences)
    wanted = readable & _matching(view, said) if said else readable
    rows = np.flatnonzero(wanted)
    terms = query_terms(asked.query)
    bm25 = np.zeros(len(scan.keys))
    if terms:
        bm25 = lexical.scores(view.snapshot, scan, terms, readable)
    hits = rows[bm25[rows] > 0]
    hits = top(hits, bm25[hits], asked.depth)
    leg = _semantic(view, query, rows, asked, said) if query is not None else None
    near = top(leg.rows, leg.cosines[leg.rows], asked.depth) if leg is not None else rows[:0]
    if leg is not None and not leg.exact:
        leg.cosines[hits] = view.cosines(query, hits)
    shown = _Shown(view, np.union1d(near, hits), most=4 * asked.depth)
    keys = shown.keys()
    semantic = ordered(near, keys, leg.cosines[near], asked.depth) if leg is not None else []
    matched = ordered(hits, keys, bm25[hits], asked.depth)
    fused = fuse(semantic, matched, asked.limit)
    chunks = shown.chunks([row for row, _ in fused])
    exact = leg is None or leg.exact
    return Found(
        candidates=tuple(
            Candidate(
                chunk=chunk,
                score=score,
                semantic_score=None if leg is None else float(leg.cosines[row]),
                lexical_score=float(bm25[row]) or None,
            )
            for (row, score), chunk in zip(fused, chunks, strict=True)
        ),
        badge="hybrid" if matched else "vector_only",
        lexical_matches=len(matched),
        exact=exact,
        index="" if exact else f"lance {view.snapshot.version}",
        notes=() if exact else (("by_vector_index", f"lance {view.snapshot.version}"),),
    )


def near(
    snapshot: Snapshot,
    dimensions: int,
    places: Sequence[tuple[str, int]],
    window: int,
    audiences: Sequence[int],
) -> list[Chunk]:
    """Chunks within `window` of the places, in one request, in no order."""
    wanted: dict[str, set[int]] = {}
    for name, at in places:
        wanted.setdefault(name, set()).update(range(at - window, at + window + 1))
    reach = sorted(set().union(*wanted.values()))
    said = " AND ".join(
        (
            labels.among("document_id", sorted(wanted)),
            labels.among("sequence", reach),
            labels.among("audience", audiences),
        )
    )
    columns = [*_CHUNK, "vector"] if dimensions else list(_CHUNK)
    found = snapshot.rows("chunks", columns, said)
    if found is None:
        return []
    made = _made(found, dimensions)
    return [chunk for chunk in made if chunk.sequence in wanted[chunk.document_id]]


def indexed(snapshot: Snapshot) -> bool:
    """Whether there is an index of vectors."""
    return any(one.name == INDEX for one in snapshot.dataset.describe_indices())


def _matching(view: View, said: str) -> Any:
    import numpy as np

    matching = np.zeros(len(view.scan.keys), dtype=bool)
    found = view.snapshot.rows("chunks", ["key"], said)
    if found is not None:
        positions, live = view.scan.positions(found.column(0).to_numpy())
        matching[positions[live]] = True
    return matching


def _semantic(view: View, query: Any, rows: Any, asked: Asked, said: str | None) -> Leg:
    import numpy as np

    scan = view.scan
    cosines = np.zeros(len(scan.keys))
    if scan.vectors is not None:
        cosines[rows] = scan.cosines(query, rows)
        return Leg(rows=rows, cosines=cosines)
    if not indexed(view.snapshot) or len(rows) <= asked.depth * _OVER:
        cosines[rows] = view.cosines(query, rows)
        return Leg(rows=rows, cosines=cosines)
    conditions = [labels.among("audience", asked.audiences), *([said] if said else [])]
    found = view.snapshot.dataset.scanner(
        columns=["key", "_distance"],
        nearest={
            "column": "vector",
            "q": query.astype(np.float32),
            "k": asked.depth * _OVER,
            "nprobes": _PROBES,
            "metric": "cosine",
        },
        filter=" AND ".join(f"({one})" for one in conditions),
        prefilter=True,
    ).to_table()
    positions, live = scan.positions(found.column("key").to_numpy())
    near = np.unique(positions[live])
    cosines[near] = view.cosines(query, near)
    return Leg(rows=near, cosines=cosines, exact=False)


class _Shown:
    """Rows that may be shown: what orders them, and the chunks of those that are.

    Where they are few, which is nearly always, both are one request.
    """

    def __init__(self, view: View, rows: Any, *, most: int) -> None:
        self._view, self._rows = view, rows
        self._columns = [*_CHUNK, "vector"] if view.dimensions else list(_CHUNK)
        self._whole = 0 < len(rows) <= most
        self._found = (
            view.taken(rows, self._columns if self._whole else _KEY) if len(rows) else None
        )

    def keys(self) -> dict[int, Key]:
        """By position."""
        if self._found is None:
            return {}
        columns = [self._found.column(name).to_pylist() for name in _KEY]
        return {
            row: (source, sequence, offset or 0, name, row)
            for row, source, sequence, offset, name in zip(
                self._rows.tolist(), *columns, strict=True
            )
        }

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """Of these positions, in their order."""
        import numpy as np

        if not rows:
            return []
        wanted = np.array(rows, dtype=np.int64)
        if self._whole:
            found = self._found.take(np.searchsorted(self._rows, wanted))
        else:
            found = self._view.taken(wanted, self._columns)
        return _made(found, self._view.dimensions)


def _made(found: Any, dimensions: int) -> list[Chunk]:
    columns = [found.column(name).to_pylist() for name in _CHUNK]
    if dimensions:
        vectors = [row.tobytes() for row in vectors_of(found.column("vector"), dimensions)]
    else:
        vectors = [b""] * found.num_rows
    rows = zip(range(found.num_rows), *columns, vectors, strict=True)
    return list(chunks_of(rows).values())
