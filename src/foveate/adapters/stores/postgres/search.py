"""Hybrid search inside one snapshot, and neighbours. Where what is scored:

- vectors on the server (`nearest.py`);
- words here: the server hands out the postings of the question's terms in the audiences that may
  be read, packed; how much those audiences hold is kept beside their states.

Rules: what the request may not read never leaves the server; filters apply before a leg is cut;
who stands at the end of a leg is decided by the content key, as in the embedded store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from foveate.adapters.stores.int8 import cosines_of, direction
from foveate.adapters.stores.postgres import halves, nearest, postings
from foveate.adapters.stores.postgres.filters import (
    names_of_readers,
    storable,
    where_condition,
)
from foveate.adapters.stores.postgres.flow import Ask, Flow, Rows
from foveate.adapters.stores.postgres.memory import Memory, scope_of
from foveate.adapters.stores.postgres.names import PUBLIC, Names
from foveate.adapters.stores.ranking import Key, fuse, ordered, refuse_nothing, top
from foveate.adapters.stores.rows import CHUNK_COLUMNS, chunks_of
from foveate.core.errors import BadOption
from foveate.core.state import combine, root
from foveate.core.text.terms import query_terms
from foveate.core.types import Candidate, Chunk, Vector
from foveate.ports import Found

_NO_JIT = Ask("SELECT set_config('jit', 'off', true)")
"""Compiling such a statement takes longer than running it."""


def find(
    names: Names,
    embedder: str,
    query: str,
    vector: Vector | None,
    *,
    limit: int,
    depth: int,
    principals: Iterable[str],
    where: Mapping[str, Any] | None,
    exact: int,
    memory: Memory,
) -> Flow[Found]:
    """See `foveate.ports.Store.search`; `exact`: rows up to which every one is compared."""
    refuse_nothing(limit, depth)
    wanted = direction(vector, names.dimensions)
    condition, bound = where_condition(where) if where else ("", [])
    terms = query_terms(query)
    (_, readable, ((indexed, _),)) = yield [
        _NO_JIT,
        _audiences(names, principals),
        nearest.indexed(names),
    ]
    audiences = [row[0] for row in readable]
    total, words = sum(row[2] for row in readable), sum(row[3] for row in readable)
    scope = nearest.Scope(
        names=names, audiences=audiences, condition=condition, bound=bound, depth=depth
    )
    mine = scope_of(readable)
    known = memory.known(mine, terms)
    missing = [term for term in terms if term not in known]
    (read, matching) = yield [_postings(names, audiences, missing), _matching(scope)]
    places = {term: data or b"" for term, data in read}
    memory.keep(mine, places)
    many = len(matching[0][0]) // 8 if condition else total
    exactly = wanted is None or not indexed or many <= exact
    ids, bm25 = postings.scored({**known, **places}, terms, total=total, words=words)
    hits = _hits(ids, bm25, matching[0][0] if condition else None, depth)
    near: dict[int, float] = {}
    if wanted is not None:
        # Where few rows match, the index finds too few of them, and a scan is cheap. Few of those
        # that may be read: what others may read decides nothing.
        by_index = not exactly and many * nearest.SELECTIVE >= total
        near = yield from nearest.rows(scope, wanted, by_index=by_index)
    keys = yield from _keys(names, sorted({*near, *hits}))
    semantic, by_words = (_ordered(leg, keys, depth) for leg in (near, hits))
    fused = fuse(semantic, by_words, limit)
    chunks, vectors = yield from _chunks(names, [row for row, _ in fused])
    lexical = _lookup(ids, bm25, [row for row, _ in fused])
    return Found(
        candidates=_candidates(fused, chunks, _cosines(vectors, wanted), lexical),
        badge="hybrid" if by_words else "vector_only",
        lexical_matches=len(by_words),
        exact=exactly,
        index="" if exactly else "pgvector hnsw",
        state_root=root(combine(row[1] for row in readable), embedder=embedder),
    )


def neighbours(
    names: Names,
    places: Sequence[tuple[str, int]],
    window: int,
    principals: Iterable[str],
) -> Flow[list[Chunk]]:
    """Chunks within `window` of the places, in one statement."""
    if window < 0:
        raise BadOption(f"neighbours: window is {window}; it must be 0 or more")
    asked = sorted({place for place in places if storable(place[0])})
    if not asked:
        return []
    query = names.sql(
        "WITH near AS (SELECT DISTINCT c.id "
        "FROM unnest(%s::text[], %s::bigint[]) AS p (document_id, sequence) "
        "JOIN {s}.documents AS d ON d.document_id = p.document_id "
        "JOIN {s}.chunks AS c ON c.document = d.id "
        "AND c.sequence BETWEEN p.sequence - %s AND p.sequence + %s "
        "WHERE c.audience IN {allowed}) "
        "SELECT {columns}, {vector} FROM near JOIN {s}.chunks AS c ON c.id = near.id "
        "JOIN {s}.documents AS d ON d.id = c.document JOIN {s}.scan AS s ON s.chunk = c.id",
        allowed=allowed(names),
        columns=CHUNK_COLUMNS,
        vector=halves.as_sent(names),
    )
    readers = names_of_readers(principals)
    documents, sequences = [place[0] for place in asked], [place[1] for place in asked]
    (rows,) = yield [Ask(query, [documents, sequences, window, window, readers])]
    chunks, _ = _read(names, rows)
    # By code points, as the embedded store orders.
    return sorted(chunks.values(), key=attrgetter("document_id", "sequence", "id"))


def allowed(names: Names) -> str:
    """A query for the audiences that principals (one mark) belong to, the public one included."""
    members = names.sql("SELECT audience FROM {s}.members WHERE principal = ANY(%s::text[])")
    return f"(SELECT {PUBLIC} UNION {members})"


def _audiences(names: Names, principals: Iterable[str]) -> Ask:
    """What may be read: audiences, their states, how many chunks and terms they hold."""
    query = names.sql(
        "SELECT id, state, chunks, words, writes FROM {s}.audiences "
        "WHERE id IN {allowed} ORDER BY id",
        allowed=allowed(names),
    )
    return Ask(query, [names_of_readers(principals)])


def _postings(names: Names, audiences: Sequence[int], terms: Sequence[str]) -> Ask:
    """The places of each term as one value; a term at a time, so that nothing is sorted."""
    query = names.sql(
        "SELECT t.term, (SELECT string_agg(p.places, ''::bytea) FROM {s}.postings AS p "
        "WHERE p.term = t.term AND p.audience = ANY(%s::integer[])) "
        "FROM unnest(%s::text[]) AS t (term)"
    )
    return Ask(query, [list(audiences), list(terms)])


def _matching(scope: nearest.Scope) -> Ask:
    """Row ids of all that the filter lets through, packed; nothing to be done without one."""
    if not scope.condition:
        return Ask("SELECT NULL")
    query = scope.names.sql("SELECT coalesce(string_agg(int8send(c.id), ''::bytea), ''::bytea) ")
    return Ask(f"{query} {scope.filtered}", [scope.audiences, *scope.bound])


def _hits(ids: Any, bm25: Any, matching: bytes | None, depth: int) -> dict[int, float]:
    """The best by words of what the filter lets through, and what ties with the last of them."""
    import numpy as np

    rows = np.flatnonzero(bm25 > 0)
    if matching is not None:
        rows = rows[np.isin(ids[rows], np.frombuffer(matching, dtype=">i8").astype(np.int64))]
    rows = top(rows, bm25[rows], depth)
    return dict(zip(ids[rows].tolist(), bm25[rows].tolist(), strict=True))


def _ordered(leg: Mapping[int, float], keys: Mapping[int, Key], depth: int) -> list[Key]:
    import numpy as np

    rows = np.array(list(leg), dtype=np.int64)
    return ordered(rows, keys, np.array(list(leg.values()), dtype=np.float64), depth)


def _keys(names: Names, rows: list[int]) -> Flow[dict[int, Key]]:
    if not rows:
        return {}
    query = names.sql(
        "SELECT c.id, d.source, c.sequence, coalesce(c.byte_offset, 0), c.chunk_id "
        "FROM {s}.chunks AS c JOIN {s}.documents AS d ON d.id = c.document "
        "WHERE c.id = ANY(%s::bigint[])"
    )
    (found,) = yield [Ask(query, [rows])]
    return {row[0]: (*row[1:], row[0]) for row in found}


def _chunks(names: Names, rows: list[int]) -> Flow[tuple[dict[int, Chunk], dict[int, bytes]]]:
    if not rows:
        return {}, {}
    query = names.sql(
        "SELECT {columns}, {vector} FROM {s}.chunks AS c JOIN {s}.documents AS d "
        "ON d.id = c.document JOIN {s}.scan AS s ON s.chunk = c.id WHERE c.id = ANY(%s::bigint[])",
        columns=CHUNK_COLUMNS,
        vector=halves.as_sent(names),
    )
    (found,) = yield [Ask(query, [rows])]
    return _read(names, found)


def _read(names: Names, rows: Rows) -> tuple[dict[int, Chunk], dict[int, bytes]]:
    """Chunks and their int8 vectors, by row id."""
    vectors = [halves.read(row[-1], names.dimensions) for row in rows]
    chunks = chunks_of((*row[:-1], vector) for row, vector in zip(rows, vectors, strict=True))
    return chunks, dict(zip((row[0] for row in rows), vectors, strict=True))


def _cosines(vectors: Mapping[int, bytes], query: Any) -> dict[int, float] | None:
    import numpy as np

    if query is None or not vectors:
        return None if query is None else {}
    rows = np.frombuffer(b"".join(vectors.values()), dtype=np.int8).reshape(len(vectors), -1)
    return dict(zip(vectors, cosines_of(rows, query).tolist(), strict=True))


def _lookup(ids: Any, bm25: Any, rows: Sequence[int]) -> dict[int, float]:
    """BM25 of these rows; 0 of those that no term is in."""
    import numpy as np

    at = np.searchsorted(ids, np.array(rows, dtype=np.int64))
    return {
        row: float(bm25[place]) if place < len(ids) and ids[place] == row else 0.0
        for row, place in zip(rows, at.tolist(), strict=True)
    }


def _candidates(
    fused: Sequence[tuple[int, float]],
    chunks: Mapping[int, Chunk],
    cosines: Mapping[int, float] | None,
    lexical: Mapping[int, float],
) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(
            chunk=chunks[row],
            score=score,
            semantic_score=None if cosines is None else cosines[row],
            lexical_score=lexical[row] or None,
        )
        for row, score in fused
    )
