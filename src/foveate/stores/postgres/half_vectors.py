"""Int8 vectors as pgvector's half floats, which hold these numbers exactly, and back.

*Exact* here: pgvector adds products of halves in float32, in which every sum stays an exact
integer up to 1,040 dimensions; longer vectors are multiplied piece by piece and added in float64.
"""

from __future__ import annotations

from typing import Any

from foveate.stores.int8 import FLOAT32_DIMENSIONS, squared_norms
from foveate.stores.postgres.names import Names


def format_vectors(rows: Any) -> list[str]:
    """Int8 rows as pgvector spells them."""
    return [f"[{','.join(map(str, row))}]" for row in rows.tolist()]


def decode_vector(data: bytes, dimensions: int) -> bytes:
    """What `vector_expression` gives, as int8 bytes."""
    import numpy as np

    if not dimensions:
        return b""
    return np.frombuffer(data, dtype=">f2", offset=4).astype(np.int8).tobytes()


def vector_expression(names: Names) -> str:
    """The expression that hands a stored vector out, from `scan AS s`."""
    return names.sql("{v}.halfvec_send(s.vector)") if names.dimensions else "s.vector"


def cosine_expression(names: Names, query: Any) -> tuple[str, list[Any]]:
    """The cosine of `scan AS s` with an int8 query, as an expression and what is bound to it.

    The same operations on the same integers as in `int8.over_lengths`: the same bits.
    """
    products_, bound = products(names, query)
    square = float(squared_norms(query[None])[0])
    sql = f"CASE s.norm WHEN 0 THEN 0 ELSE ({products_}) / sqrt(s.norm::float8 * %s::float8) END"
    return sql, [*bound, square]


def products(names: Names, query: Any) -> tuple[str, list[Any]]:
    """The product of `scan AS s` with an int8 query: a whole number, as float8."""
    width = FLOAT32_DIMENSIONS
    if names.dimensions <= width:
        parts = [names.sql("-(s.vector OPERATOR({v}.<#>) %s::{v}.halfvec)")]
    else:
        piece = "-({v}.subvector(s.vector, %s, %s) OPERATOR({v}.<#>) %s::{v}.halfvec)"
        parts = [names.sql(piece)] * -(-names.dimensions // width)
    bound: list[Any] = []
    for at in range(0, names.dimensions, width):
        part = query[at : at + width]
        place = [] if names.dimensions <= width else [at + 1, len(part)]
        bound += [*place, *format_vectors(part[None])]
    return " + ".join(parts), bound
