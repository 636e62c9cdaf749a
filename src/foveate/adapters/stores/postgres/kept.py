"""What a server store holds, single documents, and giving back what nothing uses any more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from foveate.adapters.stores.postgres.filters import names_of_readers, storable
from foveate.adapters.stores.postgres.flow import Ask, Flow
from foveate.adapters.stores.postgres.names import PUBLIC, Names, literal
from foveate.adapters.stores.postgres.nearest import indexed
from foveate.adapters.stores.postgres.schema import refuse_moved, writing
from foveate.adapters.stores.postgres.search import allowed
from foveate.adapters.stores.postgres.tables import INDEX, PARTS, VERSION
from foveate.adapters.stores.report import Stats
from foveate.adapters.stores.rows import DOCUMENT_FIELDS, columns, document_of, without_text
from foveate.adapters.stores.stale import stale
from foveate.core.state import combine, root
from foveate.ports import Document

_READABLE = (
    "d.audience IN {allowed} AND NOT EXISTS (SELECT 1 FROM {s}.chunks AS c "
    "WHERE c.document = d.id AND c.audience NOT IN {allowed})"
)
_WIDEST = 4000
"""Dimensions that pgvector's index takes of half floats."""


def documents(names: Names) -> Flow[list[tuple[str, str]]]:
    """(document id, content hash) by id."""
    query = "SELECT document_id, content_hash FROM {s}.documents ORDER BY document_id"
    (rows,) = yield [Ask(names.sql(query))]
    return [(name, hash_) for name, hash_ in rows]


def document(names: Names, document_id: str, principals: Iterable[str]) -> Flow[Document | None]:
    """One document with its text, for who may read all of it."""
    if not storable(document_id):
        return None
    fields = (*DOCUMENT_FIELDS, "text")
    query = names.sql(
        "SELECT {columns} FROM {s}.documents AS d WHERE document_id = %s AND " + _READABLE,
        columns=columns(fields),
        allowed=allowed(names),
    )
    readers = names_of_readers(principals)
    (rows,) = yield [Ask(query, [document_id, readers, readers])]
    return document_of(dict(zip(fields, rows[0], strict=True))) if rows else None


def listed(names: Names, after: str, limit: int, principals: Iterable[str]) -> Flow[list[Document]]:
    """Documents behind `after` by id, without their texts; those alone that `document` gives."""
    if not storable(after):
        return []
    query = names.sql(
        "SELECT {columns} FROM {s}.documents AS d WHERE document_id > %s AND "
        + _READABLE
        + " ORDER BY document_id LIMIT %s",
        columns=columns(DOCUMENT_FIELDS),
        allowed=allowed(names),
    )
    readers = names_of_readers(principals)
    (rows,) = yield [Ask(query, [after, readers, readers, limit])]
    return [without_text(dict(zip(DOCUMENT_FIELDS, row, strict=True))) for row in rows]


def state_root(names: Names, embedder: str, principals: Iterable[str] | None) -> Flow[str]:
    """Hash of the content and the embedder's name; of what `principals` may read, if given."""
    condition, bound = _scope(names, principals, "id")
    query = names.sql("SELECT state FROM {s}.audiences WHERE {condition}", condition=condition)
    (rows,) = yield [Ask(query, bound)]
    return root(combine(row[0] for row in rows), embedder=embedder)


def stats(names: Names, embedder: str, principals: Iterable[str] | None) -> Flow[Stats]:
    """The store in figures; sizes only for whoever keeps it."""
    readers = None if principals is None else tuple(principals)
    condition, bound = _scope(names, readers, "id")
    held = names.sql(
        "SELECT state, documents, chunks FROM {s}.audiences WHERE {condition}", condition=condition
    )
    condition, bound = _scope(names, readers, "audience")
    with_vector = names.sql(
        "SELECT count(*) FROM {s}.scan WHERE norm > 0 AND {condition}", condition=condition
    )
    asks = [Ask(held, bound), Ask(with_vector, bound), *(_sizes(names) if readers is None else ())]
    (audiences, ((vectors,),), *sizes) = yield asks
    return Stats(
        documents=sum(row[1] for row in audiences),
        chunks=sum(row[2] for row in audiences),
        vectors=vectors,
        embedder=embedder,
        dimensions=names.dimensions,
        schema=VERSION,
        state_root=root(combine(row[0] for row in audiences), embedder=embedder),
        bytes={part: rows[0][0] for part, rows in zip(PARTS, sizes, strict=True)} if sizes else {},
    )


def forgetting(names: Names) -> Flow[None]:
    """Counts, readings and sets of principals of documents that are gone."""
    versions = "SELECT version FROM {s}.readings GROUP BY version ORDER BY max(id) DESC"
    (_, ((version,),), kept) = yield [*writing(names), Ask(names.sql(versions))]
    refuse_moved(version)
    old = names.sql("DELETE FROM {s}.readings WHERE version = ANY(%s::text[])")
    yield [Ask(old, [stale(row[0] for row in kept)])]
    gone = "hash NOT IN (SELECT content_hash FROM {s}.chunks)"
    yield [
        Ask(names.sql(query))
        for query in (
            f"DELETE FROM {{s}}.counts WHERE {gone}",
            f"DELETE FROM {{s}}.readings WHERE {gone}",
            f"DELETE FROM {{s}}.audiences WHERE id <> {PUBLIC} AND documents = 0 AND chunks = 0",
            "DELETE FROM {s}.members WHERE audience NOT IN (SELECT id FROM {s}.audiences)",
        )
    ]


def vacuuming(names: Names, exact: int) -> Flow[None]:
    """Make deleted rows' room usable again, and the index once there are more than `exact` rows.

    Each statement is a transaction of its own, as the engine demands.
    """
    for tables in PARTS.values():
        for table in tables:
            yield [Ask(names.sql("VACUUM (ANALYZE) {s}.{table}", table=table))]
    (((valid, rows),),) = yield [indexed(names)]
    if rows > exact and not valid and 0 < names.dimensions <= _WIDEST:
        create = (
            "CREATE INDEX CONCURRENTLY {index} ON {s}.scan "
            "USING hnsw (vector {v}.halfvec_cosine_ops)"
        )
        yield [Ask(names.sql("DROP INDEX IF EXISTS {s}.{index}", index=INDEX))]
        yield [Ask(names.sql(create, index=INDEX))]


def _scope(names: Names, principals: Iterable[str] | None, column: str) -> tuple[str, list[Any]]:
    if principals is None:
        return "true", []
    return f"{column} IN {allowed(names)}", [names_of_readers(principals)]


def _sizes(names: Names) -> list[Ask]:
    """Bytes by part, indexes included."""
    asks = []
    for tables in PARTS.values():
        sizes = [
            f"pg_total_relation_size({literal(names.table(table))}::regclass)" for table in tables
        ]
        asks.append(Ask(f"SELECT ({' + '.join(sizes)})::bigint"))
    return asks
