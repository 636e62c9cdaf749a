"""The contents of a server store: documents, figures, remembered counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foveate.core.state import combine_states, state_hash
from foveate.ports import Document
from foveate.stores.base import Stats
from foveate.stores.checksums import checksum, damage, intact
from foveate.stores.postgres import checksums
from foveate.stores.postgres.filters import encode_principals, is_storable
from foveate.stores.postgres.half_vectors import VECTOR_INDEX, index_status_statement
from foveate.stores.postgres.postings import MERGE
from foveate.stores.postgres.schema import PARTS, VERSION, begin_write
from foveate.stores.postgres.search import audiences_query, outlined, outlines_of
from foveate.stores.postgres.statements import (
    PUBLIC_AUDIENCE,
    Rows,
    Statement,
    StoreContext,
    quote_literal,
)
from foveate.stores.rows import DOCUMENT_FIELDS, textless_document_from_row, with_text

_LOCK_TIMEOUT = "200ms"


def load_counts(store: StoreContext, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
    """Token counts already known for these content hashes."""
    query = (
        "SELECT hash, tokens, checksum FROM {s}.counts "
        "WHERE fingerprint = %s AND hash = ANY(%s::text[])"
    )
    if not is_storable(fingerprint):
        return {}
    wanted = [each for each in hashes if is_storable(each)]
    rows = store.rows(query, [fingerprint, wanted])
    return {
        hash_: tokens
        for hash_, tokens, noted in rows
        if noted == checksum((fingerprint, hash_, tokens))
    }


def save_counts(store: StoreContext, fingerprint: str, counts: Mapping[str, int]) -> None:
    """Keep token counts; best effort: a store that cannot write only counts again."""
    timeout = Statement(f"SELECT set_config('lock_timeout', '{_LOCK_TIMEOUT}', true)")
    store.run(timeout, *count_statements(store, fingerprint, counts))


def count_statements(
    store: StoreContext, fingerprint: str, counts: Mapping[str, int]
) -> list[Statement]:
    """The statement alone; none where there is nothing to remember."""
    query = """INSERT INTO {s}.counts
        SELECT %s, hash, tokens, checksum
        FROM unnest(%s::text[], %s::bigint[], %s::bigint[]) AS new (hash, tokens, checksum)
        ON CONFLICT (fingerprint, hash)
        DO UPDATE SET tokens = excluded.tokens, checksum = excluded.checksum
        WHERE counts.checksum <> excluded.checksum OR counts.tokens <> excluded.tokens"""
    hashes = sorted(each for each in counts if is_storable(each))
    if not hashes or not is_storable(fingerprint):
        return []
    tokens = [counts[each] for each in hashes]
    sums = [checksum((fingerprint, *row)) for row in zip(hashes, tokens, strict=True)]
    return [Statement(store.sql(query), [fingerprint, hashes, tokens, sums])]


_READABLE = (
    "d.audience IN {allowed} AND NOT EXISTS (SELECT 1 FROM {s}.chunks AS c "
    "WHERE c.document = d.id AND c.audience NOT IN {allowed})"
)
_UNUSED_TERMS = (
    "DELETE FROM {s}.terms AS t WHERE NOT EXISTS (SELECT 1 FROM {s}.postings AS p "
    "WHERE p.term = t.term AND p.audience = t.audience)"
)
_MAX_INDEX_DIMENSIONS = 4000
"""Dimensions that pgvector's index takes of half floats."""


_FIELDS = ("id", *DOCUMENT_FIELDS, "audience")
_WHAT = "a document is not as it was written"


def list_content_hashes(store: StoreContext) -> list[tuple[str, str]]:
    """(document id, content hash) of every document, by id, as of this moment."""
    audiences = _audiences(store, None)
    (rows,) = store.run(_document_statement(store, "true ORDER BY d.document_id", []))
    found = [
        (row["document_id"], row["content_hash"])
        for row in (dict(zip(_FIELDS, each[:-1], strict=True)) for each in intact(rows, _WHAT))
    ]
    if len(found) != sum(row[3] for row in audiences):
        raise damage(_WHAT)
    return found


def load_document(
    store: StoreContext, document_id: str, principals: tuple[str, ...]
) -> Document | None:
    """One document with its text; None where it is not there, or not all of it to be read."""
    query = store.sql("SELECT text FROM {s}.documents WHERE document_id = %s")
    (rows, texts, *found) = store.run(
        _document_statement(store, "d.document_id = %s", [document_id]),
        Statement(query, [document_id]),
        *outlined(store, [document_id]),
        *checksums.who(store, principals),
    )
    places = outlines_of(found[:2]).get(document_id)
    if places is None:
        return None
    ((*fields, _),) = intact(rows, _WHAT)
    row = dict(zip(_FIELDS, fields, strict=True))
    mine = {each[0] for each in checksums.readable(found[2:], principals)}
    if not mine.issuperset((row["audience"], *(audience for _, _, audience in places))):
        return None
    return with_text(row, texts[0][0])


def list_documents(
    store: StoreContext, after: str, limit: int, principals: tuple[str, ...]
) -> list[Document]:
    """Up to `limit` documents behind `after` by id, those that `document` gives; no texts."""
    mine = store.sql(_READABLE, allowed=audiences_query(store))
    readers = encode_principals(principals)
    condition = f"d.document_id > %s AND {mine} ORDER BY d.document_id LIMIT %s"
    (rows, *who) = store.run(
        _document_statement(store, condition, [after, readers, readers, limit]),
        *checksums.who(store, principals),
    )
    checksums.readable(who, principals)
    return [
        textless_document_from_row(dict(zip(_FIELDS, row[:-1], strict=True)))
        for row in intact(rows, _WHAT)
    ]


def _document_statement(store: StoreContext, condition: str, bound: list[Any]) -> Statement:
    """Documents without their texts, and their checksums."""
    fields = ", ".join(f"d.{field}" for field in _FIELDS)
    query = store.sql(
        f"SELECT {fields}, o.row_checksum FROM {{s}}.documents AS d "
        "LEFT JOIN {s}.outlines AS o ON o.document = d.id WHERE "
    )
    return Statement(query + condition, bound)


def _audiences(store: StoreContext, principals: tuple[str, ...] | None) -> Rows:
    """The audiences of these principals, or all, held to their checksums."""
    if principals is not None:
        return checksums.readable(store.run(*checksums.who(store, principals)), principals)
    rows = store.rows(f"SELECT {checksums.AUDIENCE} FROM {{s}}.audiences ORDER BY id")
    for row in rows:
        checksums.intact_audience(row)
    return rows


def compute_state_root(store: StoreContext, principals: tuple[str, ...] | None) -> str:
    """Hash of the content and the embedder's name, of what `principals` may read if given."""
    found = _audiences(store, principals)
    return state_hash(combine_states(row[2] for row in found), embedder=store.embedder)


def compute_stats(store: StoreContext, principals: tuple[str, ...] | None) -> Stats:
    """The store in figures; with `principals`, of what they may read alone."""
    audiences = _audiences(store, principals)
    with_vector = store.sql("SELECT count(*) FROM {s}.scan WHERE norm > 0")
    bound = []
    if principals is not None:
        with_vector += f" AND audience IN {audiences_query(store)}"
        bound = [encode_principals(principals)]
    (((vectors,),), *sizes) = store.run(
        Statement(with_vector, bound),
        *(_size_statements(store) if principals is None else ()),
    )
    return Stats(
        documents=sum(row[3] for row in audiences),
        chunks=sum(row[4] for row in audiences),
        vectors=vectors,
        embedder=store.embedder,
        dimensions=store.dimensions,
        schema=VERSION,
        state_root=state_hash(combine_states(row[2] for row in audiences), embedder=store.embedder),
        bytes={part: rows[0][0] for part, rows in zip(PARTS, sizes, strict=True)} if sizes else {},
    )


def delete_unused_rows(store: StoreContext) -> int:
    """Counts and principals of documents that are gone; how many rows of postings were merged."""
    begin_write(store)
    gone = "hash NOT IN (SELECT content_hash FROM {s}.chunks)"
    statements = (
        MERGE,
        f"DELETE FROM {{s}}.counts WHERE {gone}",
        (
            f"DELETE FROM {{s}}.audiences WHERE id <> {PUBLIC_AUDIENCE} "
            "AND documents = 0 AND chunks = 0"
        ),
        "DELETE FROM {s}.members WHERE audience NOT IN (SELECT id FROM {s}.audiences)",
        "DELETE FROM {s}.members_again WHERE audience NOT IN (SELECT id FROM {s}.audiences)",
        _UNUSED_TERMS,
    )
    (((merged,),), *_) = store.run(*(Statement(store.sql(query)) for query in statements))
    return int(merged)


def vacuum_tables(store: StoreContext, *, merged: bool) -> None:
    """Vacuum each table by itself, and create the vector index above `exact` rows.

    Postings that were `merged` are written again, for their rows have moved behind what is free.
    """
    for tables in PARTS.values():
        for table in tables:
            how = "FULL, ANALYZE" if merged and table == "postings" else "ANALYZE"
            store.rows("VACUUM ({how}) {s}.{table}", how=how, table=table)
    (((valid, rows),),) = store.run(index_status_statement(store))
    if rows > store.exact and not valid and 0 < store.dimensions <= _MAX_INDEX_DIMENSIONS:
        create = (
            "CREATE INDEX CONCURRENTLY {index} ON {s}.scan "
            "USING hnsw (vector {v}.halfvec_cosine_ops)"
        )
        store.rows("DROP INDEX IF EXISTS {s}.{index}", index=VECTOR_INDEX)
        store.rows(create, index=VECTOR_INDEX)


def _size_statements(store: StoreContext) -> list[Statement]:
    """Bytes by part, indexes included."""
    asks = []
    for tables in PARTS.values():
        sizes = [
            f"pg_total_relation_size({quote_literal(store.table(table))}::regclass)"
            for table in tables
        ]
        asks.append(Statement(f"SELECT ({' + '.join(sizes)})::bigint"))
    return asks
