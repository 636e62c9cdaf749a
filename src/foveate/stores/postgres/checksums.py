"""Checksums of a server store for rows that are found by a key or compared on the server.

Members are stored twice; a term has a sum over its places, an audience one over its scanned rows.
That sum is computed once in each state, by the first search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from foveate.stores.checksums import checksum, damage
from foveate.stores.postgres import half_vectors
from foveate.stores.postgres.filters import encode_principals
from foveate.stores.postgres.postings import NORM_WEIGHT, TERMS_WEIGHT
from foveate.stores.postgres.statements import PUBLIC_AUDIENCE, Rows, Statement, StoreContext
from foveate.stores.rows import parse_principals

AUDIENCE = "id, principals, state, documents, chunks, words, scan, writes, checksum"
"""What `audience` reads."""
_WHO = "who may read is not as it was written"


def who(store: StoreContext, principals: Iterable[str]) -> list[Statement]:
    """What `readable` reads: the audiences of these principals, and whether both lists agree."""
    readers = encode_principals(principals)
    members, again = (
        "(SELECT array_agg(audience ORDER BY audience, principal) "
        f"FROM {{s}}.{table} WHERE principal = ANY(%s::text[]))"
        for table in ("members", "members_again")
    )
    same = store.sql(f"SELECT {members} IS NOT DISTINCT FROM {again}")
    found = store.sql(
        f"SELECT {AUDIENCE} FROM {{s}}.audiences WHERE id IN (SELECT {PUBLIC_AUDIENCE} UNION "
        "SELECT audience FROM {s}.members WHERE principal = ANY(%s::text[])) ORDER BY id"
    )
    count = store.sql(
        "SELECT count(DISTINCT audience) FROM {s}.members WHERE principal = ANY(%s::text[])"
    )
    return [
        Statement(found, [readers]),
        Statement(same, [readers, readers]),
        Statement(count, [readers]),
    ]


def readable(rows: Sequence[Rows], principals: Iterable[str]) -> Rows:
    """The audiences that `who` found; raises where one is not as it was written."""
    found, ((same,),), ((members,),) = rows
    mine = set(principals)
    if not same or len(found) != members + 1:
        raise damage(_WHO)
    for row in found:
        intact_audience(row)
        if row[0] != PUBLIC_AUDIENCE and mine.isdisjoint(parse_principals(row[1])):
            raise damage(_WHO)
    return found


def every(rows: Rows) -> Rows:
    """All audiences; raises where one is not as it was written."""
    for row in rows:
        intact_audience(row)
    return rows


def audience_checksum(row: Sequence[Any]) -> int:
    """Of `AUDIENCE` without its checksum."""
    return checksum([*row[:6], int(row[6]), row[7]])


def intact_audience(row: Sequence[Any]) -> None:
    """Raise where it is not as it was written."""
    if audience_checksum(row) != row[-1]:
        raise damage(_WHO)


@lru_cache(maxsize=8)
def _probe(dimensions: int) -> Any:
    """Small numbers, none of which is 0, one a dimension."""
    import numpy as np

    return (np.arange(dimensions) * 37 % 127 + 1).astype(np.int8)


def sum_of_rows(ids: Sequence[int], terms: Sequence[int], norms: Any, vectors: Any) -> list[int]:
    """What each row adds to its audience's sum."""
    import numpy as np

    probes = vectors.astype(np.int64) @ _probe(vectors.shape[1]).astype(np.int64)
    return [
        chunk + length * TERMS_WEIGHT + norm * NORM_WEIGHT + probe
        for chunk, length, norm, probe in zip(
            ids, terms, norms.tolist(), probes.tolist(), strict=True
        )
    ]


def compared(store: StoreContext, audiences: Sequence[int]) -> Statement:
    """The sums of these audiences, as the rows give them."""
    products, bound = (
        half_vectors.products(store, _probe(store.dimensions)) if store.dimensions else ("0", [])
    )
    query = store.sql(
        f"SELECT audience, sum(chunk + terms::bigint * {TERMS_WEIGHT} "
        f"+ norm::bigint * {NORM_WEIGHT} + ({products})::bigint) "
        "FROM {s}.scan AS s WHERE audience = ANY(%s::integer[]) GROUP BY audience"
    )
    return Statement(query, [*bound, list(audiences)])


def refuse_other(rows: Rows, audiences: Rows) -> None:
    """Raise where the rows do not give the sums that the audiences say."""
    found = {audience: int(total) for audience, total in rows}
    if any(found.get(row[0], 0) != int(row[6]) for row in audiences):
        raise damage("the rows that a search compares are not as they were written")
