"""Int8 vectors as pgvector's half floats, and the rows nearest to a query.

pgvector adds products of halves in float32, exact up to 1,040 dimensions; longer vectors are
multiplied piece by piece. The HNSW index names candidates only: their cosines are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from foveate.stores.checksums import MASK, damage
from foveate.stores.int8 import FLOAT32_DIMENSIONS, squared_norms
from foveate.stores.postgres.statements import StoreContext, format_vectors
from foveate.stores.sql.database import Rows, Statement
from foveate.stores.sql.postings import NORM_WEIGHT, TERMS_WEIGHT, Readable
from foveate.stores.sql.write import probe


def cosine_expression(store: StoreContext, query: Any) -> tuple[str, list[Any]]:
    """The cosine of `scan AS s` with an int8 query, as SQL and its values: the bits of `int8`."""
    products_, bound = products(store, query)
    square = float(squared_norms(query[None])[0])
    sql = f"CASE s.norm WHEN 0 THEN 0 ELSE ({products_}) / sqrt(s.norm::float8 * %s::float8) END"
    return sql, [*bound, square]


def products(store: StoreContext, query: Any) -> tuple[str, list[Any]]:
    """The product of `scan AS s` with an int8 query: a whole number, as float8."""
    width = FLOAT32_DIMENSIONS
    if store.dimensions <= width:
        parts = [store.sql("-(s.vector OPERATOR({v}.<#>) %s::{v}.halfvec)")]
    else:
        piece = "-({v}.subvector(s.vector, %s, %s) OPERATOR({v}.<#>) %s::{v}.halfvec)"
        parts = [store.sql(piece)] * -(-store.dimensions // width)
    bound: list[Any] = []
    for at in range(0, store.dimensions, width):
        part = query[at : at + width]
        place = [] if store.dimensions <= width else [at + 1, len(part)]
        bound += [*place, *format_vectors(part[None])]
    return " + ".join(parts), bound


VECTOR_INDEX = "scan_by_vector"
"""The approximate index, which `compact` creates for a large store."""
_INDEX_SELECTIVITY = 10
"""The index is used where at least one matches in so many rows that may be read."""
_OVERSAMPLING = 4
"""It is asked for so many times the rows that are wanted."""
_MAX_INDEX_DIMENSIONS = 4000
"""Dimensions that pgvector's index takes of half floats."""


def nearest(
    store: StoreContext, readable: Readable, aim: Any, matching: Any, depth: int
) -> tuple[Any, str]:
    """The rows nearest to a query, and the index that named them; see `sql.search.Nearest`."""
    scope = Scope(store=store, audiences=readable.ids, matching=matching, depth=depth)
    many = readable.chunks if matching is None else len(matching)
    indexed = many > store.exact and _index_status(store)[0]
    # Where few rows match, the index finds too few of them, and a scan is cheap. Few of those
    # that may be read: what others may read decides nothing.
    by_index = indexed and many * _INDEX_SELECTIVITY >= readable.chunks
    compared = (readable.scope, "")
    if not by_index and not store.cache.get(compared):
        compare(store, readable.audiences)
        store.cache.put(compared, True)
    return np.array(nearest_rows(scope, aim, by_index=by_index), dtype=np.int64), (
        "pgvector hnsw" if indexed else ""
    )


def compare(store: StoreContext, audiences: Rows) -> None:
    """Raise where the rows that are compared do not give the sums that the audiences say."""
    products_, bound = products(store, probe(store.dimensions)) if store.dimensions else ("0", [])
    total = f"sum(chunk + terms::bigint * {TERMS_WEIGHT} + norm::bigint * {NORM_WEIGHT} "
    rows = store.rows(
        f"SELECT audience, ({total}+ ({{products}})::bigint) %% {MASK + 1})::bigint "
        "FROM {s}.scan AS s WHERE audience = ANY(%s::integer[]) GROUP BY audience",
        [*bound, [row[0] for row in audiences]],
        products=products_,
    )
    found: dict[int, int] = dict(rows)
    if any(found.get(row[0], 0) != row[6] for row in audiences):
        raise damage("the rows that a search compares are not as they were written")


def make_index(store: StoreContext) -> None:
    """Create the index above `exact` rows, unless it is there."""
    valid, rows = _index_status(store)
    if rows > store.exact and not valid and 0 < store.dimensions <= _MAX_INDEX_DIMENSIONS:
        store.rows("DROP INDEX IF EXISTS {s}.{index}", index=VECTOR_INDEX)
        store.rows(
            "CREATE INDEX CONCURRENTLY {index} ON {s}.scan "
            "USING hnsw (vector {v}.halfvec_cosine_ops)",
            index=VECTOR_INDEX,
        )


def _index_status(store: StoreContext) -> tuple[bool, int]:
    """Whether the index is there and ready, and how many chunks there are."""
    query = (
        "SELECT EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid), "
        "coalesce(sum(chunks), 0)::bigint FROM {s}.audiences"
    )
    ((valid, rows),) = store.rows(query, [store.table(VECTOR_INDEX)])
    return valid, rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What may be found, and how many are wanted; `matching`: rows of a filter, None for all."""

    store: StoreContext
    audiences: list[int]
    matching: Any
    depth: int

    def condition(self) -> tuple[str, list[Any]]:
        """The same over `scan AS s`, and what is bound."""
        allowed = "s.audience = ANY(%s::integer[])"
        if self.matching is None:
            return allowed, [self.audiences]
        return f"{allowed} AND s.chunk = ANY(%s::bigint[])", [
            self.audiences,
            self.matching.tolist(),
        ]


def nearest_rows(scope: Scope, query: Any, *, by_index: bool) -> list[int]:
    """The rows of the `depth` nearest, and of all that tie with the last of them."""
    depth = scope.depth
    if by_index:
        found = _nearest_by_index(scope, query)
        if len(found) >= depth:
            return found
    cosine, numbers = cosine_expression(scope.store, query)
    chosen, bound = scope.condition()
    scored = scope.store.sql(
        "SELECT s.chunk, {cosine} AS cosine FROM {s}.scan AS s WHERE {chosen}",
        cosine=cosine,
        chosen=chosen,
    )
    best = f"{scored} ORDER BY cosine DESC LIMIT %s"
    (found_,) = scope.store.run(Statement(best, [*numbers, *bound, depth + 1]))
    if len(found_) > depth and found_[depth][1] == found_[depth - 1][1]:
        ties = f"SELECT chunk FROM ({scored}) AS scored WHERE cosine >= %s::float8"
        (found_,) = scope.store.run(Statement(ties, [*numbers, *bound, found_[depth][1]]))
        return [row[0] for row in found_]
    return [row for row, _ in found_[:depth]]


def _nearest_by_index(scope: Scope, query: Any) -> list[int]:
    cosine, numbers = cosine_expression(scope.store, query)
    chosen, bound = scope.condition()
    wide = scope.depth * _OVERSAMPLING
    sql = scope.store.sql(
        "WITH near AS MATERIALIZED (SELECT s.chunk FROM {s}.scan AS s WHERE {chosen} "
        "ORDER BY s.vector OPERATOR({v}.<=>) %s::{v}.halfvec LIMIT %s) "
        "SELECT s.chunk FROM near JOIN {s}.scan AS s ON s.chunk = near.chunk "
        "ORDER BY {cosine} DESC, s.chunk LIMIT %s",
        chosen=chosen,
        cosine=cosine,
    )
    (vector,) = format_vectors(query[None])
    search = (
        "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), "
        "set_config('hnsw.ef_search', %s, true)"
    )
    (_, found) = scope.store.run(
        Statement(search, [str(min(max(wide, 100), 1000))]),
        Statement(sql, [*bound, vector, wide, *numbers, scope.depth]),
    )
    return [row for (row,) in found]
