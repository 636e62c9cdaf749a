"""Checksums of a server store for rows that are found by a key or compared on the server.

Members are stored twice; a term has a sum over its places, an audience one over its scanned rows.
That sum is computed once in each state, by the first search.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from secrets import randbits
from typing import Any

import numpy as np

from foveate.stores.checksums import checksum, damage
from foveate.stores.postgres import half_vectors
from foveate.stores.postgres.postings import NORM_WEIGHT, TERMS_WEIGHT
from foveate.stores.postgres.statements import StoreContext
from foveate.stores.rows import chunk_members, document_member
from foveate.stores.sql.audiences import AudienceTotals
from foveate.stores.sql.database import Rows, Statement
from foveate.stores.totals import CHUNKS, DOCUMENTS, SCAN, WORDS


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
    query = (
        f"SELECT audience, sum(chunk + terms::bigint * {TERMS_WEIGHT} "
        f"+ norm::bigint * {NORM_WEIGHT} + ({{products}})::bigint) "
        "FROM {s}.scan AS s WHERE audience = ANY(%s::integer[]) GROUP BY audience"
    )
    return store.statement(query, [*bound, list(audiences)], products=products)


def refuse_other(rows: Rows, audiences: Rows) -> None:
    """Raise where the rows do not give the sums that the audiences say."""
    found = {audience: int(total) for audience, total in rows}
    if any(found.get(row[0], 0) != int(row[6]) for row in audiences):
        raise damage("the rows that a search compares are not as they were written")


def apply_document(
    totals: AudienceTotals,
    document: dict[str, Any],
    chunks: Sequence[dict[str, Any]],
    *,
    sign: int = 1,
) -> None:
    """Take what a document brings into the totals, or out of them.

    `chunks`: with `terms`, how many a chunk has, and `weight`, as `sum_of_rows` gives.
    """
    totals.apply([document_member(document)], DOCUMENTS, sign)
    totals.apply(chunk_members(document, chunks), CHUNKS, sign)
    for chunk in chunks:
        totals.count(chunk["audience"], WORDS, sign * chunk["terms"])
        totals.count(chunk["audience"], SCAN, sign * chunk["weight"])


def update_statement(store: StoreContext, totals: AudienceTotals) -> Statement:
    """One statement for all of them."""
    query = """UPDATE {s}.audiences AS a SET state = new.state,
        documents = new.documents, chunks = new.chunks, words = new.words,
        scan = new.scan::numeric, writes = new.writes, checksum = new.checksum
        FROM unnest(%s::integer[], %s::bytea[], %s::bigint[], %s::bigint[], %s::bigint[],
            %s::text[], %s::bigint[], %s::bigint[])
            AS new (id, state, documents, chunks, words, scan, writes, checksum)
        WHERE a.id = new.id"""
    rows = []
    for number, principals, *figures, scan, _ in totals.rows():
        writes = randbits(63)
        noted = checksum((number, principals, *figures, scan, writes))
        rows.append((number, *figures, str(scan), writes, noted))
    return store.statement(query, list(map(list, zip(*sorted(rows), strict=True))))
