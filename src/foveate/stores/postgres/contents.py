"""Remembered counts, compaction and sizes of a server store."""

from __future__ import annotations

from collections.abc import Mapping

from foveate.stores.postgres.half_vectors import VECTOR_INDEX, index_status_statement
from foveate.stores.postgres.postings import MERGE
from foveate.stores.postgres.schema import TABLE_NAMES, begin_write
from foveate.stores.postgres.statements import StoreContext, quote_literal
from foveate.stores.sql.audiences import DELETE_UNUSED
from foveate.stores.sql.contents import count_rows
from foveate.stores.sql.database import Statement

_LOCK_TIMEOUT = "200ms"


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
    rows = count_rows(fingerprint, counts)
    if not rows:
        return []
    _, *columns = map(list, zip(*rows, strict=True))
    return [store.statement(query, [fingerprint, *columns])]


_UNUSED_TERMS = (
    "DELETE FROM {s}.terms AS t WHERE NOT EXISTS (SELECT 1 FROM {s}.postings AS p "
    "WHERE p.term = t.term AND p.audience = t.audience)"
)
_MAX_INDEX_DIMENSIONS = 4000
"""Dimensions that pgvector's index takes of half floats."""


def delete_unused_rows(store: StoreContext) -> int:
    """Counts and principals of documents that are gone; how many rows of postings were merged."""
    begin_write(store)
    statements = (MERGE, *DELETE_UNUSED, _UNUSED_TERMS)
    (((merged,),), *_) = store.run(*map(store.statement, statements))
    return int(merged)


def vacuum_tables(store: StoreContext, *, merged: bool) -> None:
    """Vacuum each table by itself, and create the vector index above `exact` rows.

    Postings that were `merged` are written again, for their rows have moved behind what is free.
    """
    for table in TABLE_NAMES:
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


def bytes_by_table(store: StoreContext) -> dict[str, int]:
    """Bytes by table, indexes included."""
    names = [quote_literal(store.table(table)) for table in TABLE_NAMES]
    sizes = ", ".join(f"pg_total_relation_size({name}::regclass)" for name in names)
    (row,) = store.run(Statement(f"SELECT {sizes}"))[0]
    return dict(zip(TABLE_NAMES, row, strict=True))
