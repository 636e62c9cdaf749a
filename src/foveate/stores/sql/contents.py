"""What an SQL store holds, as it is read: documents, chunks, token counts and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from foveate.ports import Document
from foveate.stores.base import Stats
from foveate.stores.checksums import checksum, damage, intact
from foveate.stores.filters import iter_batches
from foveate.stores.outlines import Place, decode_places
from foveate.stores.rows import (
    CHUNK_COLUMNS,
    DOCUMENT_FIELDS,
    textless_document_from_row,
    with_text,
)
from foveate.stores.sql.audiences import (
    compute_state_root,
    load_audiences,
    readers_from_rows,
    readers_query,
    readers_statements,
)
from foveate.stores.sql.database import Database, Rows, Statement

_READABLE = (
    "d.audience IN {readers} AND NOT EXISTS (SELECT 1 FROM {s}.chunks AS c "
    "WHERE c.document = d.id AND c.audience NOT IN {readers})"
)
_FIELDS = ("id", *DOCUMENT_FIELDS, "audience")
DOCUMENT_DAMAGE = "a document is not as it was written"
CHUNK_DAMAGE = "a chunk is not as it was written"


def load_document(
    database: Database, document_id: str, principals: tuple[str, ...]
) -> Document | None:
    """One document with its text; None where it is not there, or not all of it to be read."""
    text = "SELECT CAST(text AS {bytes}) FROM {s}.documents WHERE document_id = %s"
    (rows, texts, outlines, there, *readers) = database.run(
        _document_statement(database, "d.document_id = %s", [document_id]),
        database.statement(text, [document_id]),
        *outline_statements(database, [document_id]),
        *readers_statements(database, principals),
    )
    places = places_from_rows(outlines, there).get(document_id)
    if places is None:
        return None
    (row,) = _decode_rows(rows)
    mine = {audience[0] for audience in readers_from_rows(readers, principals)}
    if not mine.issuperset((row["audience"], *(audience for _, _, audience in places))):
        return None
    return with_text(row, texts[0][0])


def list_documents(
    database: Database, after: str, limit: int, principals: tuple[str, ...]
) -> list[Document]:
    """Up to `limit` documents behind `after` by id, those that `document` gives; no texts."""
    readers, bound = readers_query(database, principals)
    mine = database.sql(_READABLE, readers=readers)
    condition = f"d.document_id > %s AND {mine} ORDER BY d.document_id LIMIT %s"
    (rows, *found) = database.run(
        _document_statement(database, condition, [after, *bound, *bound, limit]),
        *readers_statements(database, principals),
    )
    readers_from_rows(found, principals)
    return list(map(textless_document_from_row, _decode_rows(rows)))


def list_content_hashes(database: Database) -> list[tuple[str, str]]:
    """(document id, content hash) of every document, by id, as of this moment."""
    audiences = load_audiences(database, None)
    (rows,) = database.run(_document_statement(database, "true ORDER BY d.document_id", []))
    found = [(row["document_id"], row["content_hash"]) for row in _decode_rows(rows)]
    if len(found) != sum(audience[3] for audience in audiences):
        raise damage(DOCUMENT_DAMAGE)
    return found


def _document_statement(database: Database, condition: str, bound: list[Any]) -> Statement:
    """Documents without their texts, and their checksums."""
    fields = ", ".join(f"d.{field}" for field in _FIELDS)
    return database.statement(
        f"SELECT {fields}, o.row_checksum FROM {{s}}.documents AS d "
        "LEFT JOIN {s}.outlines AS o ON o.document = d.id WHERE {condition}",
        bound,
        condition=condition,
    )


def _decode_rows(rows: Rows) -> list[dict[str, Any]]:
    return [dict(zip(_FIELDS, row[:-1], strict=True)) for row in intact(rows, DOCUMENT_DAMAGE)]


def outline_statements(database: Database, documents: Sequence[str]) -> list[Statement]:
    """What `places_from_rows` reads of these documents."""
    named, bound = database.texts_among(sorted(set(documents)))
    outlines = "SELECT document, document_id, places, checksum FROM {s}.outlines "
    there = "SELECT id, document_id FROM {documents_again} "
    return [
        database.statement(f"{query}WHERE document_id {named}", bound)
        for query in (outlines, there)
    ]


def places_from_rows(outlines: Rows, there: Rows) -> dict[str, list[Place]]:
    """Document id → its chunks; raises where the documents are not those of the outlines."""
    found = list(intact(outlines, DOCUMENT_DAMAGE))
    if {row[:2] for row in found} != set(there):
        raise damage(DOCUMENT_DAMAGE)
    return {name: decode_places(places) for _, name, places, _ in found}


def chunk_statement(database: Database, condition: str, bound: Sequence[Any]) -> Statement:
    """What `decode_chunk_rows` reads of the chunks whose row id meets the condition."""
    return database.statement(
        f"SELECT {CHUNK_COLUMNS}, {{vector}}, c.audience, c.checksum FROM {{s}}.chunks AS c "
        "JOIN {s}.documents AS d ON d.id = c.document JOIN {s}.scan AS s ON s.chunk = c.id "
        "WHERE c.id {condition}",
        bound,
        vector=database.vector_expression(),
        condition=condition,
    )


def decode_chunk_rows(database: Database, rows: Rows) -> dict[int, tuple[Any, ...]]:
    """Row id → what `chunks_from_rows` reads, held to its checksum."""
    decoded = ((*row[:-3], database.decode_vector(row[-3]), *row[-2:]) for row in rows)
    return {row[0]: row for row in intact(decoded, CHUNK_DAMAGE)}


def load_chunk_rows(database: Database, ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """The rows of these chunks, in this order."""
    (rows,) = database.run(chunk_statement(database, *database.ids_among(ids)))
    found = decode_chunk_rows(database, rows)
    if found.keys() != set(ids):
        raise damage(CHUNK_DAMAGE)
    return [found[number] for number in ids]


def load_counts(database: Database, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
    """Token counts already known for these content hashes; not of damaged rows."""
    known: dict[str, int] = {}
    for some in iter_batches(hashes):
        named, bound = database.texts_among(some)
        query = (
            "SELECT fingerprint, hash, tokens, checksum FROM {s}.counts "
            f"WHERE fingerprint = %s AND hash {named}"
        )
        for *row, noted in database.rows(query, [fingerprint, *bound]):
            if noted == checksum(row):
                known[row[1]] = row[2]
    return known


def count_rows(fingerprint: str, counts: Mapping[str, int]) -> Rows:
    """Token counts by content hash as rows of `counts`, by hash."""
    rows = [(fingerprint, hash_, tokens) for hash_, tokens in sorted(counts.items())]
    return [(*row, checksum(row)) for row in rows]


def compute_stats(
    database: Database,
    principals: tuple[str, ...] | None,
    *,
    schema: int,
    sizes: Callable[[], Mapping[str, int]],
) -> Stats:
    """The store in figures; with `principals`, of what they may read alone.

    `schema`: its version. `sizes`: bytes by part.
    """
    audiences = load_audiences(database, principals)
    mine, bound = database.ids_among([row[0] for row in audiences])
    query = f"SELECT count(*) FROM {{s}}.scan WHERE {database.nonzero_vector} AND audience {mine}"
    ((vectors,),) = database.rows(query, bound)
    return Stats(
        documents=sum(row[3] for row in audiences),
        chunks=sum(row[4] for row in audiences),
        vectors=vectors,
        embedder=database.embedder,
        dimensions=database.dimensions,
        schema=schema,
        state_root=compute_state_root(database, audiences),
        bytes=sizes() if principals is None else {},
    )
