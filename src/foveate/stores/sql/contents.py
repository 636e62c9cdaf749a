"""What an SQL store holds, as it is read: documents, chunks, token counts and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foveate.ports import Document
from foveate.stores.checksums import checksum, damage, intact
from foveate.stores.filters import iter_batches
from foveate.stores.places import decode_places
from foveate.stores.rows import CHUNK_COLUMNS, DOCUMENT_COLUMNS, document_from_row, with_text
from foveate.stores.sql.audiences import load_audiences, readers_from_rows, readers_statements
from foveate.stores.sql.database import Database, Rows, Statement, upsert

DOCUMENT_DAMAGE = "a document is not as it was written"
CHUNK_DAMAGE = "a chunk is not as it was written"


def load_document(
    database: Database, document_id: str, principals: tuple[str, ...]
) -> Document | None:
    """One document with its text; None where it is not there, or not all of it to be read."""
    (rows, texts, *readers) = database.run(
        *named_documents_statements(database, [document_id], texts=True),
        *readers_statements(database, principals),
    )
    row = decode_documents(rows).get(document_id)
    mine = {audience[0] for audience in readers_from_rows(database, readers, principals)}
    if row is None or not mine.issuperset(_audiences(row)):
        return None
    return with_text(row, dict(texts).get(row["id"], b""))


def list_documents(
    database: Database, after: str, limit: int, principals: tuple[str, ...]
) -> list[Document]:
    """Up to `limit` documents behind `after` by id, those that `document` gives; no texts."""
    mine = [row[0] for row in load_audiences(database, principals)]
    readable, bound = database.ids_among(mine)
    condition = f"d.document_id > %s AND d.audience {readable} ORDER BY d.document_id LIMIT %s"
    found: list[dict[str, Any]] = []
    while len(found) < limit:
        rows = database.run(documents_statement(database, condition, [after, *bound, limit]))[0]
        read = decode_documents(rows)
        found += [row for row in read.values() if set(mine).issuperset(_audiences(row))]
        if len(rows) < limit:
            break
        after = rows[-1][1]
    return list(map(document_from_row, found[:limit]))


def list_content_hashes(database: Database) -> list[tuple[str, str]]:
    """(document id, content hash) of every document, by id, as of this moment."""
    audiences = load_audiences(database, None)
    (rows,) = database.run(documents_statement(database, "true ORDER BY d.document_id", []))
    found = [(name, row["content_hash"]) for name, row in decode_documents(rows).items()]
    if len(found) != sum(audience[3] for audience in audiences):
        raise damage(DOCUMENT_DAMAGE)
    return found


def documents_statement(database: Database, condition: str, bound: Sequence[Any]) -> Statement:
    """What `decode_documents` reads: documents without their texts."""
    columns = ", ".join(f"d.{field}" for field in (*DOCUMENT_COLUMNS, "checksum"))
    query = f"SELECT {columns} FROM {{s}}.documents AS d WHERE {{condition}}"
    return database.statement(query, bound, condition=condition)


def named_documents_statements(
    database: Database, names: Sequence[str], *, texts: bool = False
) -> list[Statement]:
    """The same of the documents with these ids; and what has their `texts`, by row id."""
    condition, bound = database.named("d.document_id", "d.key", sorted(set(names)))
    query = f"SELECT d.id, CAST(d.text AS {{bytes}}) FROM {{s}}.documents AS d WHERE {condition}"
    return [
        documents_statement(database, condition, bound),
        *([database.statement(query, bound)] if texts else []),
    ]


def decode_documents(rows: Rows) -> dict[str, dict[str, Any]]:
    """Document id → row, with its places unpacked; raises where one is not as it was written."""
    found = (
        dict(zip(DOCUMENT_COLUMNS, row, strict=False)) for row in intact(rows, DOCUMENT_DAMAGE)
    )
    return {row["document_id"]: {**row, "places": decode_places(row["places"])} for row in found}


def _audiences(row: Mapping[str, Any]) -> set[int]:
    """Whoever reads all of the document is in each of these."""
    return {row["audience"], *(audience for _, _, audience in row["places"])}


def chunk_statement(database: Database, condition: str, bound: Sequence[Any]) -> Statement:
    """What `decode_chunk_rows` reads of chunks AS c that meet the condition."""
    return database.statement(
        f"SELECT {CHUNK_COLUMNS}, {{vector}}, s.audience, s.terms, c.checksum "
        "FROM {s}.chunks AS c JOIN {s}.documents AS d ON d.id = c.document "
        "JOIN {s}.scan AS s ON s.chunk = c.id WHERE {condition}",
        bound,
        vector=database.vector_expression(),
        condition=condition,
    )


def decode_chunk_rows(database: Database, rows: Rows) -> dict[int, tuple[Any, ...]]:
    """Row id → what `chunks_from_rows` reads, held to its checksum."""
    return {row[0]: row for row in intact(with_vectors(database, rows), CHUNK_DAMAGE)}


def with_vectors(database: Database, rows: Rows) -> Iterator[tuple[Any, ...]]:
    """The rows of a chunk statement, their vectors as int8 bytes."""
    return ((*row[:-4], database.decode_vector(row[-4]), *row[-3:]) for row in rows)


def load_chunk_rows(database: Database, ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """The rows of these chunks, in this order."""
    among, bound = database.ids_among(ids)
    (rows,) = database.run(chunk_statement(database, f"c.id {among}", bound))
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


def count_statements(
    database: Database, fingerprint: str, counts: Mapping[str, int]
) -> list[Statement]:
    """What keeps token counts by content hash; none where there is nothing to remember."""
    rows = [(fingerprint, hash_, tokens) for hash_, tokens in sorted(counts.items())]
    changed = " WHERE t.checksum <> excluded.checksum OR t.tokens <> excluded.tokens"
    replaced = upsert("fingerprint, hash", "tokens", "checksum") + changed
    made = [(*row, checksum(row)) for row in rows]
    return [database.insert("counts", made, replaced)] if rows else []
