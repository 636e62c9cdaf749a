"""Whole documents of the embedded store, and which of them one may read. Only reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from foveate.ports import Document
from foveate.stores import outlines
from foveate.stores.checksums import damage, intact
from foveate.stores.filters import placeholders
from foveate.stores.request_checks import is_encodable
from foveate.stores.rows import DOCUMENT_FIELDS, textless_document_from_row, with_text
from foveate.stores.sqlite import audiences

_READABLE = """d.audience IN ({allowed}) AND NOT EXISTS (
    SELECT 1 FROM chunks AS c WHERE c.document = d.id AND c.audience NOT IN ({allowed}))"""
_FIELDS = ("id", *DOCUMENT_FIELDS, "audience")
_WHAT = "a document is not as it was written"


def load_document(
    connection: sqlite3.Connection, document_id: str, principals: Iterable[str]
) -> Document | None:
    """One document with its text; None where it is not there, or not all of it to be read."""
    if not is_encodable(document_id):
        return None
    places = outlines.of(connection, [document_id]).get(document_id)
    if places is None:
        return None
    (row,) = _rows(connection, "d.document_id = ?", [document_id])
    readers = {audience[0] for audience in audiences.readable(connection, principals)}
    if not readers.issuperset((row["audience"], *(audience for _, _, audience in places))):
        return None
    query = "SELECT CAST(text AS BLOB) FROM documents WHERE id = ?"
    (packed,) = connection.execute(query, (row["id"],)).fetchone()
    return with_text(row, packed)


def list_documents(
    connection: sqlite3.Connection, after: str, limit: int, principals: Iterable[str]
) -> list[Document]:
    """Documents behind `after` by id, without their texts; those alone that `document` gives."""
    if not is_encodable(after):
        return []
    bound = [audience[0] for audience in audiences.readable(connection, principals)]
    mine = _READABLE.format(allowed=placeholders(bound))
    rows = _rows(
        connection,
        f"d.document_id > ? AND {mine} ORDER BY d.document_id LIMIT ?",
        [after, *bound, *bound, limit],
    )
    return list(map(textless_document_from_row, rows))


def hashes(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """(document id, content hash) of every document, by id."""
    found = [
        (row["document_id"], row["content_hash"])
        for row in _rows(connection, "1 ORDER BY d.document_id", [])
    ]
    if len(found) != sum(audience[3] for audience in audiences.readable(connection, None)):
        raise damage(_WHAT)
    return found


def _rows(
    connection: sqlite3.Connection, condition: str, bound: Sequence[Any]
) -> list[dict[str, Any]]:
    """Documents without their texts, held to their checksums."""
    fields = ", ".join(f"d.{field}" for field in _FIELDS)
    query = (
        f"SELECT {fields}, o.row_checksum FROM documents AS d "
        f"LEFT JOIN outlines AS o ON o.document = d.id WHERE {condition}"
    )
    rows = intact(connection.execute(query, bound), _WHAT)
    return [dict(zip(_FIELDS, row[:-1], strict=True)) for row in rows]
