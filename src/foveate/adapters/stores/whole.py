"""Whole documents of the embedded store, and which of them one may read. Only reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from foveate.adapters.stores import filters
from foveate.adapters.stores.asked import encodable
from foveate.adapters.stores.rows import DOCUMENT_FIELDS, columns, document_of, without_text
from foveate.ports import Document

_READABLE = """d.audience IN ({allowed}) AND NOT EXISTS (
    SELECT 1 FROM chunks AS c WHERE c.document = d.id AND c.audience NOT IN ({allowed}))"""


def document(
    connection: sqlite3.Connection, document_id: str, principals: Iterable[str]
) -> Document | None:
    """One document with its text; None where it is not there, or not all of it to be read."""
    if not encodable(document_id):
        return None
    allowed, bound = filters.audiences(principals)
    fields = (*DOCUMENT_FIELDS, "text")
    query = (
        f"SELECT {columns(fields)} FROM documents AS d "
        f"WHERE document_id = ? AND {_READABLE.format(allowed=allowed)}"
    )
    row = connection.execute(query, [document_id, *bound, *bound]).fetchone()
    return document_of(dict(zip(fields, row, strict=True))) if row else None


def listed(
    connection: sqlite3.Connection, after: str, limit: int, principals: Iterable[str]
) -> list[Document]:
    """Documents behind `after` by id, without their texts; those alone that `document` gives."""
    if not encodable(after):
        return []
    allowed, bound = filters.audiences(principals)
    query = (
        f"SELECT {columns(DOCUMENT_FIELDS)} FROM documents AS d "
        f"WHERE document_id > ? AND {_READABLE.format(allowed=allowed)} "
        "ORDER BY document_id LIMIT ?"
    )
    rows = connection.execute(query, [after, *bound, *bound, limit]).fetchall()
    return [without_text(dict(zip(DOCUMENT_FIELDS, row, strict=True))) for row in rows]
