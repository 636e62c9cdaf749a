"""Int8 vectors as pgvector's half floats, and the rows nearest to a query: every row is compared.

pgvector adds products of halves in float32, exact up to 1,040 dimensions; longer vectors are
multiplied piece by piece.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from foveate.stores.checksums import MASK, damage
from foveate.stores.int8 import FLOAT32_DIMENSIONS, squared_norms
from foveate.stores.postgres.statements import StoreContext, format_vectors
from foveate.stores.sql.database import Rows, Statement
from foveate.stores.sql.postings import NORM_WEIGHT, TERMS_WEIGHT, Readable
from foveate.stores.sql.write import probe


def nearest(store: StoreContext, readable: Readable, aim: Any, matching: Any, depth: int) -> Any:
    """The rows of the `depth` nearest, and of all that tie with the last of them.

    `matching`: row ids that a filter matches, None for all.
    """
    compared = (readable.scope, "")
    if not store.cache.get(compared):
        compare(store, readable.audiences)
        store.cache.put(compared, True)
    cosine, bound = _cosine_expression(store, aim)
    chosen = "s.audience = ANY(%s::integer[])"
    bound.append(readable.ids)
    if matching is not None:
        chosen += " AND s.chunk = ANY(%s::bigint[])"
        bound.append(matching.tolist())
    scored = store.sql(
        "SELECT s.chunk, {cosine} AS cosine FROM {s}.scan AS s WHERE {chosen}",
        cosine=cosine,
        chosen=chosen,
    )
    best = f"{scored} ORDER BY cosine DESC LIMIT %s"
    (found,) = store.run(Statement(best, [*bound, depth + 1]))
    if len(found) > depth and found[depth][1] == found[depth - 1][1]:
        ties = f"SELECT chunk FROM ({scored}) AS scored WHERE cosine >= %s::float8"
        (found,) = store.run(Statement(ties, [*bound, found[depth][1]]))
    else:
        found = found[:depth]
    return np.array([row[0] for row in found], dtype=np.int64)


def compare(store: StoreContext, audiences: Rows) -> None:
    """Raise where the rows that are compared do not give the sums that the audiences say."""
    products, bound = _products(store, probe(store.dimensions)) if store.dimensions else ("0", [])
    total = f"sum(chunk + terms::bigint * {TERMS_WEIGHT} + norm::bigint * {NORM_WEIGHT} "
    rows = store.rows(
        f"SELECT audience, ({total}+ ({{products}})::bigint) %% {MASK + 1})::bigint "
        "FROM {s}.scan AS s WHERE audience = ANY(%s::integer[]) GROUP BY audience",
        [*bound, [row[0] for row in audiences]],
        products=products,
    )
    found: dict[int, int] = dict(rows)
    if any(found.get(row[0], 0) != row[6] for row in audiences):
        raise damage("the rows that a search compares are not as they were written")


def _cosine_expression(store: StoreContext, query: Any) -> tuple[str, list[Any]]:
    """The cosine of `scan AS s` with an int8 query, as SQL and its values: the bits of `int8`."""
    products, bound = _products(store, query)
    square = float(squared_norms(query[None])[0])
    sql = f"CASE s.norm WHEN 0 THEN 0 ELSE ({products}) / sqrt(s.norm::float8 * %s::float8) END"
    return sql, [*bound, square]


def _products(store: StoreContext, query: Any) -> tuple[str, list[Any]]:
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
