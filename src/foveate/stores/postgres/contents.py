"""What a server store holds: documents, figures, remembered counts and analyses, compaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foveate.core.state import combine_states, state_hash
from foveate.ports import Document
from foveate.stores.checksums import checksum, damage, intact
from foveate.stores.postgres import checksums
from foveate.stores.postgres.filters import encode_principals, is_storable
from foveate.stores.postgres.half_vectors import VECTOR_INDEX, index_status_statement
from foveate.stores.postgres.schema import (
    PARTS,
    VERSION,
    begin_write_statements,
    check_schema_version,
)
from foveate.stores.postgres.search import audiences_query, outlined, outlines_of
from foveate.stores.postgres.statements import (
    PUBLIC_AUDIENCE,
    Names,
    Rows,
    Statement,
    StatementFlow,
    quote_literal,
)
from foveate.stores.report import Stats
from foveate.stores.rows import (
    DOCUMENT_FIELDS,
    find_stale_versions,
    textless_document_from_row,
    with_text,
)

_LOCK_TIMEOUT = "200ms"


def load_counts(
    names: Names, fingerprint: str, hashes: Sequence[str]
) -> StatementFlow[dict[str, int]]:
    """Token counts that are known; not of damaged rows."""
    query = (
        "SELECT hash, tokens, checksum FROM {s}.counts "
        "WHERE fingerprint = %s AND hash = ANY(%s::text[])"
    )
    if not is_storable(fingerprint):
        return {}
    wanted = [each for each in hashes if is_storable(each)]
    (rows,) = yield [Statement(names.sql(query), [fingerprint, wanted])]
    return {
        hash_: tokens
        for hash_, tokens, noted in rows
        if noted == checksum((fingerprint, hash_, tokens))
    }


def load_analyses(
    names: Names, version: str, hashes: Sequence[str]
) -> StatementFlow[dict[str, bytes]]:
    """Readings that were kept."""
    query = "SELECT hash, data FROM {s}.readings WHERE version = %s AND hash = ANY(%s::text[])"
    if not is_storable(version):
        return {}
    wanted = [each for each in hashes if is_storable(each)]
    (rows,) = yield [Statement(names.sql(query), [version, wanted])]
    return dict(rows)


def save_counts(names: Names, fingerprint: str, counts: Mapping[str, int]) -> StatementFlow[None]:
    """Keep token counts, where no writer stands in the way."""
    yield [_lock_timeout_statement(), *count_statements(names, fingerprint, counts)]


def count_statements(names: Names, fingerprint: str, counts: Mapping[str, int]) -> list[Statement]:
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
    return [Statement(names.sql(query), [fingerprint, hashes, tokens, sums])]


def save_analyses(names: Names, version: str, readings: Mapping[str, bytes]) -> StatementFlow[None]:
    """Keep readings, where no writer stands in the way."""
    query = """INSERT INTO {s}.readings (version, hash, data)
        SELECT %s, hash, data FROM unnest(%s::text[], %s::bytea[]) AS new (hash, data)
        ON CONFLICT (version, hash) DO UPDATE SET data = excluded.data, id = excluded.id"""
    hashes = sorted(each for each in readings if is_storable(each))
    if hashes and is_storable(version):
        asked = [version, hashes, [bytes(readings[each]) for each in hashes]]
        yield [_lock_timeout_statement(), Statement(names.sql(query), asked)]


def _lock_timeout_statement() -> Statement:
    return Statement(f"SELECT set_config('lock_timeout', '{_LOCK_TIMEOUT}', true)")


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


def list_content_hashes(names: Names) -> StatementFlow[list[tuple[str, str]]]:
    """(document id, content hash) by id."""
    audiences = yield from _audiences(names, None)
    (rows,) = yield [_document_statement(names, "true ORDER BY d.document_id", [])]
    found = [
        (row["document_id"], row["content_hash"])
        for row in (dict(zip(_FIELDS, each[:-1], strict=True)) for each in intact(rows, _WHAT))
    ]
    if len(found) != sum(row[3] for row in audiences):
        raise damage(_WHAT)
    return found


def load_document(
    names: Names, document_id: str, principals: Iterable[str]
) -> StatementFlow[Document | None]:
    """One document with its text, for who may read all of it."""
    if not is_storable(document_id):
        return None
    principals = tuple(principals)
    query = names.sql("SELECT text FROM {s}.documents WHERE document_id = %s")
    (rows, texts, *found) = yield [
        _document_statement(names, "d.document_id = %s", [document_id]),
        Statement(query, [document_id]),
        *outlined(names, [document_id]),
        *checksums.who(names, principals),
    ]
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
    names: Names, after: str, limit: int, principals: Iterable[str]
) -> StatementFlow[list[Document]]:
    """Documents behind `after` by id, without their texts; those alone that `document` gives."""
    if not is_storable(after):
        return []
    principals = tuple(principals)
    mine = names.sql(_READABLE, allowed=audiences_query(names))
    readers = encode_principals(principals)
    condition = f"d.document_id > %s AND {mine} ORDER BY d.document_id LIMIT %s"
    (rows, *who) = yield [
        _document_statement(names, condition, [after, readers, readers, limit]),
        *checksums.who(names, principals),
    ]
    checksums.readable(who, principals)
    return [
        textless_document_from_row(dict(zip(_FIELDS, row[:-1], strict=True)))
        for row in intact(rows, _WHAT)
    ]


def _document_statement(names: Names, condition: str, bound: list[Any]) -> Statement:
    """Documents without their texts, and their checksums."""
    fields = ", ".join(f"d.{field}" for field in _FIELDS)
    query = names.sql(
        f"SELECT {fields}, o.row_checksum FROM {{s}}.documents AS d "
        "LEFT JOIN {s}.outlines AS o ON o.document = d.id WHERE "
    )
    return Statement(query + condition, bound)


def _audiences(names: Names, principals: Iterable[str] | None) -> StatementFlow[Rows]:
    """The audiences of these principals, or all, held to their checksums."""
    if principals is not None:
        mine = tuple(principals)
        found = checksums.readable((yield checksums.who(names, mine)), mine)
    else:
        query = names.sql(f"SELECT {checksums.AUDIENCE} FROM {{s}}.audiences ORDER BY id")
        (rows,) = yield [Statement(query)]
        found = checksums.every(rows)
    return found


def compute_state_root(
    names: Names, embedder: str, principals: Iterable[str] | None
) -> StatementFlow[str]:
    """Hash of the content and the embedder's name; of what `principals` may read, if given."""
    found = yield from _audiences(names, principals)
    return state_hash(combine_states(row[2] for row in found), embedder=embedder)


def compute_stats(
    names: Names, embedder: str, principals: Iterable[str] | None
) -> StatementFlow[Stats]:
    """The store in figures; sizes only for whoever keeps it."""
    readers = None if principals is None else tuple(principals)
    audiences = yield from _audiences(names, readers)
    condition, bound = _audience_condition(names, readers, "audience")
    with_vector = names.sql(
        "SELECT count(*) FROM {s}.scan WHERE norm > 0 AND {condition}", condition=condition
    )
    (((vectors,),), *sizes) = yield [
        Statement(with_vector, bound),
        *(_size_statements(names) if readers is None else ()),
    ]
    return Stats(
        documents=sum(row[3] for row in audiences),
        chunks=sum(row[4] for row in audiences),
        vectors=vectors,
        embedder=embedder,
        dimensions=names.dimensions,
        schema=VERSION,
        state_root=state_hash(combine_states(row[2] for row in audiences), embedder=embedder),
        bytes={part: rows[0][0] for part, rows in zip(PARTS, sizes, strict=True)} if sizes else {},
    )


def delete_unused_rows(names: Names) -> StatementFlow[None]:
    """Counts, readings and sets of principals of documents that are gone."""
    versions = "SELECT version FROM {s}.readings GROUP BY version ORDER BY max(id) DESC"
    (_, ((version,),), kept) = yield [
        *begin_write_statements(names),
        Statement(names.sql(versions)),
    ]
    check_schema_version(version)
    old = names.sql("DELETE FROM {s}.readings WHERE version = ANY(%s::text[])")
    yield [Statement(old, [find_stale_versions(row[0] for row in kept)])]
    gone = "hash NOT IN (SELECT content_hash FROM {s}.chunks)"
    yield [
        Statement(names.sql(query))
        for query in (
            f"DELETE FROM {{s}}.counts WHERE {gone}",
            f"DELETE FROM {{s}}.readings WHERE {gone}",
            (
                f"DELETE FROM {{s}}.audiences WHERE id <> {PUBLIC_AUDIENCE} "
                "AND documents = 0 AND chunks = 0"
            ),
            "DELETE FROM {s}.members WHERE audience NOT IN (SELECT id FROM {s}.audiences)",
            "DELETE FROM {s}.members_again WHERE audience NOT IN (SELECT id FROM {s}.audiences)",
            _UNUSED_TERMS,
        )
    ]


def vacuum_tables(names: Names, exact: int) -> StatementFlow[None]:
    """Make deleted rows' room usable again, and the index once there are more than `exact` rows.

    Each statement is a transaction of its own, as the engine demands.
    """
    for tables in PARTS.values():
        for table in tables:
            yield [Statement(names.sql("VACUUM (ANALYZE) {s}.{table}", table=table))]
    (((valid, rows),),) = yield [index_status_statement(names)]
    if rows > exact and not valid and 0 < names.dimensions <= _MAX_INDEX_DIMENSIONS:
        create = (
            "CREATE INDEX CONCURRENTLY {index} ON {s}.scan "
            "USING hnsw (vector {v}.halfvec_cosine_ops)"
        )
        yield [Statement(names.sql("DROP INDEX IF EXISTS {s}.{index}", index=VECTOR_INDEX))]
        yield [Statement(names.sql(create, index=VECTOR_INDEX))]


def _audience_condition(
    names: Names, principals: Iterable[str] | None, column: str
) -> tuple[str, list[Any]]:
    if principals is None:
        return "true", []
    return f"{column} IN {audiences_query(names)}", [encode_principals(principals)]


def _size_statements(names: Names) -> list[Statement]:
    """Bytes by part, indexes included."""
    asks = []
    for tables in PARTS.values():
        sizes = [
            f"pg_total_relation_size({quote_literal(names.table(table))}::regclass)"
            for table in tables
        ]
        asks.append(Statement(f"SELECT ({' + '.join(sizes)})::bigint"))
    return asks
