"""Hybrid search in one version of the store: filter, two legs, fuse, fetch; and neighbours.

Rules: as in the embedded store, with the same functions, so that answers are equal to the bit
where every row is compared (`exact`). Beyond, Lance's index names candidates among the readable
and matching rows, `_OVER` times as many as asked for; their cosines are exact, so only who is
among them is the index's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blake3 import blake3

from foveate.adapters.stores.int8 import cosines_of, direction
from foveate.adapters.stores.lance import labels, lexical
from foveate.adapters.stores.lance.scan import Scan, vectors_of
from foveate.adapters.stores.lance.snapshot import Snapshot
from foveate.adapters.stores.nearest import cosines, nearest
from foveate.adapters.stores.ranking import Key, best, fuse, matched, ordered, refuse_nothing
from foveate.adapters.stores.readable import View
from foveate.adapters.stores.rows import chunks_of
from foveate.core.text.terms import query_terms
from foveate.core.types import Candidate, Chunk, Vector
from foveate.ports import Found

_OVER = 10
_PROBES = 64
_BLOCK = 65_536
_MOST = 2**63 - 1
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
class Ground:
    """One version of the store, with what is in memory of it."""

    snapshot: Snapshot
    scan: Scan
    dimensions: int

    def taken(self, rows: Any, columns: Sequence[str]) -> Any:
        """These rows of the table (positions), in the order given."""
        return self.snapshot.dataset._take_rows(  # noqa: SLF001 (the only way to rows by address)
            self.scan.addresses(rows).tolist(), columns=list(columns)
        )

    def cosines(self, aim: Any, rows: Any) -> Any:
        """Of these rows, float64; read block by block where vectors stay in the store."""
        import numpy as np

        if self.scan.vectors is not None:
            return cosines(self.scan, aim, rows)
        found = np.zeros(len(rows))
        for start in range(0, len(rows), _BLOCK):
            some = self.taken(rows[start : start + _BLOCK], ["vector"])
            vectors = vectors_of(some.column("vector"), self.dimensions)
            found[start : start + _BLOCK] = cosines_of(vectors, aim)
        return found


class Shown:
    """Rows that may be shown (positions, ascending): what orders them, and their chunks.

    Where they are few, which is nearly always, both are one request.
    """

    def __init__(self, ground: Ground, rows: Any, *, most: int) -> None:
        self._ground, self._rows = ground, rows
        self._columns = [*_CHUNK, "vector"] if ground.dimensions else list(_CHUNK)
        self._whole = len(rows) <= most
        columns = self._columns if self._whole else _KEY
        self._found: Any = ground.taken(rows, columns) if len(rows) else None

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

    def chunks(self, at: Sequence[int]) -> list[Chunk]:
        """Those that stand at these places among the rows, in this order."""
        if not at:
            return []
        if self._whole:
            found = self._found.take(at)
        else:
            found = self._ground.taken(self._rows[list(at)], self._columns)
        return _made(found, self._ground.dimensions)


def find(ground: Ground, asked: Asked) -> Found:
    """See `foveate.ports.Store.search`."""
    import numpy as np

    refuse_nothing(asked.limit, asked.depth)
    said = labels.condition(asked.where) if asked.where else None
    aim = direction(asked.vector, ground.dimensions)
    view = ground.scan.view(asked.audiences)
    wanted = view.mask if said is None else _matching(ground, view, said)
    close, exact = _close(ground, aim, wanted, asked, said)
    terms = query_terms(asked.query)
    scores = lexical.scores(ground.snapshot, ground.scan, terms, view) if terms else None
    hits = matched(scores, wanted, asked.depth)
    rows = np.union1d(close, hits)
    cosine = ground.cosines(aim, rows) if aim is not None else None
    bm25 = scores[rows] if scores is not None else np.zeros(len(rows))
    shown = Shown(ground, rows, most=4 * asked.depth)
    keys = shown.keys()
    near = np.isin(rows, close)
    semantic = ordered(close, keys, cosine[near], asked.depth) if cosine is not None else []
    words = ordered(hits, keys, bm25[np.isin(rows, hits)], asked.depth)
    fused = fuse(semantic, words, asked.limit)
    at = np.searchsorted(rows, np.array([row for row, _ in fused], dtype=np.int64)).tolist()
    return Found(
        candidates=tuple(
            Candidate(
                chunk=chunk,
                score=score,
                semantic_score=None if cosine is None else float(cosine[place]),
                lexical_score=float(bm25[place]) or None,
            )
            for (_, score), place, chunk in zip(fused, at, shown.chunks(at), strict=True)
        ),
        badge="hybrid" if words else "vector_only",
        lexical_matches=len(words),
        exact=exact,
        index="" if exact else named(ground.snapshot),
    )


def near(
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
    reach = _joined((at for _, at in places), window)
    if not reach:
        return []
    said = " AND ".join(
        (
            labels.among("document_id", sorted(wanted)),
            f"({' OR '.join(_between(*one) for one in reach)})",
            labels.among("audience", audiences),
        )
    )
    columns = [*_CHUNK, "vector"] if dimensions else list(_CHUNK)
    found = snapshot.rows("chunks", columns, said)
    if found is None:
        return []
    made = _made(found, dimensions)
    return [one for one in made if _is_near(wanted[one.document_id], one.sequence, window)]


def _joined(places: Iterable[int], window: int) -> list[tuple[int, int]]:
    """What is in reach as intervals, ends included, joined where they meet; within 64 bits."""
    found: list[tuple[int, int]] = []
    for at in sorted(set(places)):
        start, end = max(at - window, -_MOST - 1), min(at + window, _MOST)
        if start > end or end < -_MOST:
            continue
        if found and start <= found[-1][1] + 1:
            start = found.pop()[0]
        found.append((start, end))
    return found


def _between(start: int, end: int) -> str:
    """Lance reads the least of all whole numbers as a fraction, so it is not said."""
    least = start < -_MOST
    return f"`sequence` <= {end}" if least else f"`sequence` BETWEEN {start} AND {end}"


def _is_near(places: Sequence[int], at: int, window: int) -> bool:
    """Whether one of these places, ascending, is within the window."""
    next_ = bisect_left(places, at - window)
    return next_ < len(places) and places[next_] <= at + window


def named(snapshot: Snapshot) -> str:
    """What an answer calls the index: its own name, which no write changes, but `compact` does.

    The version of the table would count the writes that the reader may not see.
    """
    (index,) = (one for one in snapshot.dataset.describe_indices() if one.name == INDEX)
    parts = sorted(str(one.uuid) for one in index.segments)
    return f"lance ivf_rq {blake3(' '.join(parts).encode()).hexdigest()[:16]}"


def indexed(snapshot: Snapshot) -> bool:
    """Whether there is an index of vectors."""
    return any(one.name == INDEX for one in snapshot.dataset.describe_indices())


def _matching(ground: Ground, view: View, said: str) -> Any:
    """Booleans by position, of the readable rows that the filter wants."""
    import numpy as np

    matching = np.zeros(len(ground.scan.ids), dtype=bool)
    found = ground.snapshot.rows("chunks", ["key"], said)
    if found is not None:
        positions, live = ground.scan.positions(found.column(0).to_numpy())
        matching[positions[live]] = True
    return matching if view.mask is None else matching & view.mask


def _close(
    ground: Ground, aim: Any, wanted: Any, asked: Asked, said: str | None
) -> tuple[Any, bool]:
    """Positions, ascending, of the best by vector; and whether all wanted rows were compared."""
    import numpy as np

    if aim is None:
        return np.empty(0, dtype=np.int64), True
    scan, depth = ground.scan, asked.depth
    if scan.vectors is not None:
        return nearest(scan, aim, wanted, depth), True
    rows = np.arange(len(scan.ids)) if wanted is None else np.flatnonzero(wanted)
    exact = not indexed(ground.snapshot) or len(rows) <= depth * _OVER
    if not exact:
        rows = _named(ground, aim, asked, said)
    return rows[best(ground.cosines(aim, rows), depth)], exact


def _named(ground: Ground, aim: Any, asked: Asked, said: str | None) -> Any:
    """Positions, ascending, of what Lance's index takes for near."""
    import numpy as np

    conditions = [labels.among("audience", asked.audiences), *([said] if said else [])]
    found = ground.snapshot.dataset.scanner(
        columns=["key", "_distance"],
        nearest={
            "column": "vector",
            "q": aim.astype(np.float32),
            "k": asked.depth * _OVER,
            "nprobes": _PROBES,
            "metric": "cosine",
        },
        filter=" AND ".join(f"({one})" for one in conditions),
        prefilter=True,
    ).to_table()
    positions, live = ground.scan.positions(found.column("key").to_numpy())
    return np.unique(positions[live])


def _made(found: Any, dimensions: int) -> list[Chunk]:
    columns = [found.column(name).to_pylist() for name in _CHUNK]
    if dimensions:
        vectors = [row.tobytes() for row in vectors_of(found.column("vector"), dimensions)]
    else:
        vectors = [b""] * found.num_rows
    rows = zip(range(found.num_rows), *columns, vectors, strict=True)
    return list(chunks_of(rows).values())
