"""Writes of one document with its chunks and all that is derived from them, in one transaction.

Everything is computed before the lock; under it are one batch that reads and one that writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from foveate.core.state import EMPTY_STATE
from foveate.stores.checksums import MASK, second_key
from foveate.stores.filters import facts_to_index
from foveate.stores.int8 import squared_norms
from foveate.stores.lazy import check_schema_version
from foveate.stores.places import encode_places
from foveate.stores.postgres import checksums, contents, half_vectors, postings, schema
from foveate.stores.postgres.schema import begin_write_statements, principals_digest
from foveate.stores.postgres.statements import StoreContext
from foveate.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    PreparedDocument,
    chunk_checksum,
    document_checksum,
    duplicate_id_error,
    quote_columns,
    terms_to_index,
)
from foveate.stores.sql.audiences import NEW_AUDIENCE, AudienceTotals, member_rows
from foveate.stores.sql.database import Rows, Statement

_DOCUMENT_COLUMNS = ("id", *DOCUMENT_FIELDS, "audience")
_CHUNK_TYPES = {
    "id": "bigint",
    "document": "bigint",
    **dict.fromkeys(CHUNK_FIELDS, "text"),
    **dict.fromkeys(("sequence", "start", "end", "byte_offset", "page", "row", "line"), "bigint"),
    "checksum": "bigint",
}


def replace_document(store: StoreContext, new: PreparedDocument) -> None:
    """Put the document in place of the one with its id; raises `BadInput`."""
    ids = [each["chunk_id"] for each in new.chunks]
    name = new.row["document_id"]
    audiences = sorted({new.row["principals"], *(each["principals"] for each in new.chunks)})
    taken = (
        "SELECT c.chunk_id FROM {s}.chunks AS c JOIN {s}.documents AS d ON d.id = c.document "
        "WHERE c.chunk_id = ANY(%s::text[]) AND d.document_id <> %s ORDER BY 1 LIMIT 1"
    )
    numbers = "SELECT nextval({ids}) FROM generate_series(1, %s) ORDER BY 1"
    (_, ((version,),), _, old, old_chunks, states, others, numbered) = store.run(
        *begin_write_statements(store),
        _create_audiences_statement(store, audiences),
        *_select_statements(store, name, audiences),
        store.statement(taken, [ids, name]),
        store.statement(numbers, [len(ids) + 1]),
    )
    check_schema_version(version, schema.VERSION)
    if others:
        raise duplicate_id_error("another document", others[0][0])
    totals = AudienceTotals(states)
    deletes, words = _remove(store, totals, old, old_chunks)
    first, *rest = (row[0] for row in numbered)
    audience = totals.ids[new.row["principals"]]
    document = {**new.row, "id": first, "audience": audience}
    chunks = [
        {**each, "id": number, "document": first, "audience": totals.ids[each["principals"]]}
        for each, number in zip(new.chunks, rest, strict=True)
    ]
    lengths = [len(terms) for terms in new.terms]
    weights = checksums.sum_of_rows(rest, lengths, squared_norms(new.vectors), new.vectors)
    checksums.apply_document(
        totals,
        document,
        [{**c, "terms": n, "weight": w} for c, n, w in zip(chunks, lengths, weights, strict=True)],
    )
    places = postings.encode_postings(
        rest, new.terms, new.facts, [each["audience"] for each in chunks]
    )
    store.run(
        *deletes,
        _members_statement(store, states),
        *_insert_statements(store, document, chunks, new, places),
        *_summed(store, words, list(zip(*places, strict=True))),
        checksums.update_statement(store, totals),
        *contents.count_statements(store, new.fingerprint, new.counts),
    )


def delete_document(store: StoreContext, document_id: str) -> bool:
    """Remove a document and its chunks; False where it was not there."""
    (_, ((version,),), old, chunks, states) = store.run(
        *begin_write_statements(store),
        *_select_statements(store, document_id, []),
    )
    check_schema_version(version, schema.VERSION)
    if not old:
        return False
    totals = AudienceTotals(states)
    deletes, words = _remove(store, totals, old, chunks)
    store.run(
        *deletes,
        *_summed(store, words, []),
        checksums.update_statement(store, totals),
    )
    return True


def _create_audiences_statement(store: StoreContext, principals: Sequence[str]) -> Statement:
    """New audiences, created under the lock."""
    query = """INSERT INTO {s}.audiences (id, digest, principals, state, checksum)
        SELECT (SELECT max(id) FROM {s}.audiences) + row_number() OVER (), new.*, %s, {new}
        FROM unnest(%s::bytea[], %s::text[]) AS new (digest, principals)
        WHERE NOT EXISTS (SELECT 1 FROM {s}.audiences AS a WHERE a.digest = new.digest)"""
    digests = [principals_digest(each) for each in principals]
    return store.statement(query, [EMPTY_STATE, digests, list(principals)], new=NEW_AUDIENCE)


def _members_statement(store: StoreContext, audiences: Rows) -> Statement:
    """The members of those that are new."""
    made = [row[:2] for row in audiences if row[-1] == NEW_AUDIENCE]
    rows = [row for number, principals in made for row in member_rows(store, number, principals)]
    columns = map(list, zip(*rows, strict=True)) if rows else [[], [], [], []]
    query = (
        "INSERT INTO {s}.members "
        "SELECT * FROM unnest(%s::text[], %s::bigint[], %s::integer[], %s::bigint[])"
    )
    return store.statement(query, [*columns])


def _select_statements(
    store: StoreContext, document_id: str, audiences: Iterable[str]
) -> list[Statement]:
    """The document that is there, its chunks, and the audiences of it and of `audiences`."""
    mine = store.sql("(SELECT id FROM {s}.documents WHERE document_id = %s)")
    columns = quote_columns(_DOCUMENT_COLUMNS)
    document = f"SELECT {columns} FROM {{s}}.documents WHERE document_id = %s"
    fields = ", ".join(f'c."{field}"' for field in CHUNK_FIELDS)
    chunks = (
        f"SELECT s.chunk, s.terms, s.norm, {store.vector_expression()}, s.audience, {fields} "
        "FROM {s}.chunks AS c JOIN {s}.scan AS s ON s.chunk = c.id "
        "WHERE c.document = {mine} ORDER BY c.id"
    )
    states = f"""SELECT {store.audience_columns} FROM {{s}}.audiences
        WHERE digest = ANY(%s::bytea[])
        OR id = (SELECT audience FROM {{s}}.documents WHERE document_id = %s)
        OR id IN (SELECT s.audience FROM {{s}}.chunks AS c JOIN {{s}}.scan AS s ON s.chunk = c.id
            WHERE c.document = {{mine}})"""
    digests = [principals_digest(each) for each in audiences]
    return [
        store.statement(document, [document_id]),
        store.statement(chunks, [document_id], mine=mine),
        store.statement(states, [digests, document_id, document_id], mine=mine),
    ]


def _rows_from_values(
    store: StoreContext, document: Sequence[Any], chunks: Iterable[Sequence[Any]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Rows that were read, as they were accounted for."""
    fields = ("id", "terms", "norm", "vector", "audience", *CHUNK_FIELDS)
    row = dict(zip(_DOCUMENT_COLUMNS, document, strict=True))
    rows = [dict(zip(fields, chunk, strict=True)) for chunk in chunks]
    data = b"".join(store.decode_vector(each["vector"]) for each in rows)
    vectors = np.frombuffer(data, dtype=np.int8).reshape(len(rows), store.dimensions)
    squares = np.array([each["norm"] for each in rows], dtype=np.int64)
    ids, lengths = [each["id"] for each in rows], [each["terms"] for each in rows]
    weights = checksums.sum_of_rows(ids, lengths, squares, vectors)
    return row, [{**each, "weight": one} for each, one in zip(rows, weights, strict=True)]


def _summed(
    store: StoreContext, old: Iterable[Sequence[Any]], new: Iterable[Sequence[Any]]
) -> list[Statement]:
    """The terms' checksums, from which old places go and to which new ones come."""
    gone, come = postings.sums_by_term(old), postings.sums_by_term(new)
    more = {key: come.get(key, 0) - gone.get(key, 0) & MASK for key in gone.keys() | come.keys()}
    if not more:
        return []
    query = (
        "INSERT INTO {s}.terms AS t SELECT * FROM unnest(%s::text[], %s::integer[], %s::bigint[]) "
        "ON CONFLICT (term, audience) "
        f"DO UPDATE SET checksum = (t.checksum + excluded.checksum) & {MASK}"
    )
    rows = [(*key, added) for key, added in sorted(more.items())]
    return [store.statement(query, list(map(list, zip(*rows, strict=True))))]


def _remove(
    store: StoreContext, totals: AudienceTotals, old: Rows, old_chunks: Rows
) -> tuple[list[Statement], Rows]:
    """Take a document that is there out of the totals: the statements, and its postings."""
    if not old:
        return [], []
    row, chunks = _rows_from_values(store, old[0], old_chunks)
    checksums.apply_document(totals, row, chunks, sign=-1)
    ids = [each["id"] for each in chunks]
    places = postings.encode_postings(
        ids,
        [terms_to_index(each) for each in chunks],
        [facts_to_index(row, each) for each in chunks],
        [each["audience"] for each in chunks],
    )
    return [
        *(
            store.statement(query, bound)
            for query, bound in postings.removals(row["id"], ids, places)
        ),
        *(
            store.statement(f"DELETE FROM {{s}}.{table} WHERE {key} = ANY(%s)", [values])
            for table, key, values in (
                ("scan", "chunk", ids),
                ("chunks", "document", [row["id"]]),
                ("documents", "id", [row["id"]]),
            )
        ),
    ], list(zip(*places, strict=True))


def _insert_statements(
    store: StoreContext,
    document: dict[str, Any],
    chunks: list[dict[str, Any]],
    new: PreparedDocument,
    places: list[list[Any]],
) -> list[Statement]:
    where = [(each["sequence"], each["id"], each["audience"]) for each in chunks]
    row = {**document, "key": second_key(document["document_id"]), "places": encode_places(where)}
    row |= {"checksum": document_checksum(row), "text": new.packed}
    marks = ", ".join(["%s"] * len(row))
    query = f"INSERT INTO {{s}}.documents ({quote_columns(row)}) VALUES ({marks})"
    inserted = store.statement(query, list(row.values()))
    if not chunks:
        return [inserted]
    lengths = [len(terms) for terms in new.terms]
    sums = [
        chunk_checksum(each["id"], document, each, vector.tobytes(), each["audience"], length)
        for each, vector, length in zip(chunks, new.vectors, lengths, strict=True)
    ]
    rows = [{**each, "checksum": noted} for each, noted in zip(chunks, sums, strict=True)]
    ids, audiences = [each["id"] for each in chunks], [each["audience"] for each in chunks]
    vectors = half_vectors.format_vectors(new.vectors) if store.dimensions else [b""] * len(ids)
    scan = (
        "INSERT INTO {s}.scan SELECT * FROM unnest(%s::bigint[], %s::integer[], %s::integer[], "
        f"%s::integer[], %s::{'{v}.halfvec' if store.dimensions else 'bytea'}[])"
    )
    posted = (
        "INSERT INTO {s}.postings SELECT term, audience, %s, places "
        "FROM unnest(%s::text[], %s::integer[], %s::bytea[]) AS new (term, audience, places)"
    )
    return [
        inserted,
        _insert_chunks_statement(store, rows),
        store.statement(
            scan, [ids, audiences, lengths, squared_norms(new.vectors).tolist(), vectors]
        ),
        store.statement(posted, [document["id"], *places]),
    ]


def _insert_chunks_statement(store: StoreContext, rows: Sequence[dict[str, Any]]) -> Statement:
    """All chunks in one statement."""
    fields = quote_columns(_CHUNK_TYPES)
    marks = ", ".join(f"%s::{kind}[]" for kind in _CHUNK_TYPES.values())
    query = f"INSERT INTO {{s}}.chunks ({fields}) SELECT * FROM unnest({marks})"
    return store.statement(query, [[row[field] for row in rows] for field in _CHUNK_TYPES])
