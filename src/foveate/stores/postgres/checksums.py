"""Checksums of a server store for rows that are found by a key or compared on the server.

Members are stored twice; a term has a sum over its places, an audience one over its scanned rows.
That sum is computed once in each state, by the first search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from secrets import randbits
from typing import Any

import numpy as np

from foveate.core.state import update_state
from foveate.stores.checksums import checksum, damage
from foveate.stores.postgres import half_vectors
from foveate.stores.postgres.filters import encode_principals
from foveate.stores.postgres.postings import NORM_WEIGHT, TERMS_WEIGHT
from foveate.stores.postgres.statements import PUBLIC_AUDIENCE, Rows, Statement, StoreContext
from foveate.stores.rows import parse_principals, state_members

AUDIENCE = "id, principals, state, documents, chunks, words, scan, writes, checksum"
"""The columns of an audience, its checksum last."""
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
    return (np.arange(dimensions) * 37 % 127 + 1).astype(np.int8)


def sum_of_rows(ids: Sequence[int], terms: Sequence[int], norms: Any, vectors: Any) -> list[int]:
    """What each row adds to its audience's sum."""
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


_NEW = -1
"""In the place of the checksum of an audience that this very write has made."""


class AudienceTotals:
    """The audiences that a write touches: their states and how much they hold."""

    def __init__(self, rows: Iterable[Sequence[Any]]) -> None:
        self.ids: dict[str, int] = {}
        self._states: dict[int, bytes] = {}
        self._figures: dict[int, list[int]] = {}
        for row in rows:
            number, principals, state, *figures = row[:7]
            if row[-1] != _NEW:
                intact_audience(row)
            self.ids[principals] = number
            self._states[number] = state
            self._figures[number] = [int(figure) for figure in figures]

    def apply(
        self, document: dict[str, Any], chunks: Sequence[dict[str, Any]], *, sign: int = 1
    ) -> None:
        """Take what a document brings into the totals, or out of them."""
        by_audience: dict[int, list[bytes]] = {}
        for audience, encoded in state_members(document, chunks):
            by_audience.setdefault(audience, []).append(encoded)
        for audience, encoded_members in by_audience.items():
            state = self._states[audience]
            way = {"added": encoded_members} if sign > 0 else {"removed": encoded_members}
            self._states[audience] = update_state(state, **way)
        self._figures[document["audience"]][0] += sign
        for chunk in chunks:
            figures = self._figures[chunk["audience"]]
            figures[1] += sign
            figures[2] += sign * chunk["terms"]
            figures[3] += sign * chunk["weight"]

    def update_statements(self, store: StoreContext) -> list[Statement]:
        """One statement for all of them."""
        query = store.sql("""UPDATE {s}.audiences AS a SET state = new.state,
            documents = new.documents, chunks = new.chunks, words = new.words,
            scan = new.scan::numeric, writes = new.writes, checksum = new.checksum
            FROM unnest(%s::integer[], %s::bytea[], %s::bigint[], %s::bigint[], %s::bigint[],
                %s::text[], %s::bigint[], %s::bigint[])
                AS new (id, state, documents, chunks, words, scan, writes, checksum)
            WHERE a.id = new.id""")
        rows = []
        for principals, number in self.ids.items():
            row = (number, principals, self._states[number], *self._figures[number], randbits(63))
            scan = str(self._figures[number][3])
            rows.append((number, *row[2:6], scan, row[7], audience_checksum((*row, 0))))
        return [Statement(query, list(map(list, zip(*sorted(rows), strict=True))))]
