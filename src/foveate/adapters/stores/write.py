"""Writing: one document with its chunks goes in or out, whole, with all that is derived from it.

Rules: called inside a write transaction; the audiences' lattice hashes (state root), the inverted
index, the scanned rows and the hash chain of writes change with the rows, or nothing does.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from blake3 import blake3

from foveate.adapters.stores import postings
from foveate.adapters.stores.filters import marks
from foveate.adapters.stores.postings import Pending
from foveate.adapters.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    chunk_row,
    columns,
    document_row,
    indexed_terms,
    members,
    names_of,
)
from foveate.adapters.stores.schema import PUBLIC
from foveate.core.errors import BadInput
from foveate.core.state import EMPTY, shift
from foveate.core.types import Chunk
from foveate.ports import Document

_HISTORY = 1000
"""So many writes back a vectors.bin can be brought up to date instead of built again."""


def replace_document(
    connection: sqlite3.Connection,
    pending: Pending,
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Any,
) -> None:
    """Put the document in place of the one with its id; `vectors`: int8, a row a chunk.

    Its words are left in `pending`, to be written before the transaction ends.
    """
    row = document_row(document)
    chunk_rows = [chunk_row(document, chunk) for chunk in chunks]
    remove_document(connection, pending, document.id)
    _refuse_taken(connection, chunk_rows)
    row["audience"] = _audience(connection, row["principals"])
    row["text"] = zlib.compress(document.text.encode())
    number = _insert(connection, "documents", row)
    terms: dict[int, Sequence[str]] = {}
    for chunk_fields, vector in zip(chunk_rows, vectors, strict=True):
        chunk_fields["audience"] = _audience(connection, chunk_fields["principals"])
        chunk = _insert(connection, "chunks", {**chunk_fields, "document": number})
        terms[chunk] = indexed_terms(chunk_fields)
        scanned = (chunk, chunk_fields["audience"], len(terms[chunk]), vector.tobytes())
        connection.execute("INSERT INTO scan VALUES (?, ?, ?, ?)", scanned)
    _account(connection, row, chunk_rows, sign=1)
    _advance(connection, b"put", row, chunk_rows, vectors.tobytes())
    pending.add(number, terms)


def remove_document(connection: sqlite3.Connection, pending: Pending, document_id: str) -> bool:
    """Take the document and all that belongs to it out; False where it was not there."""
    names = ["id", "audience", *DOCUMENT_FIELDS]
    query = f"SELECT {columns(names)} FROM documents WHERE document_id = ?"
    values = connection.execute(query, (document_id,)).fetchone()
    if values is None:
        return False
    row = dict(zip(names, values, strict=True))
    number = row["id"]
    fields = ["audience", *CHUNK_FIELDS]
    query = f"SELECT {columns(fields)} FROM chunks WHERE document = ?"
    found = connection.execute(query, (number,)).fetchall()
    chunk_rows = [dict(zip(fields, chunk, strict=True)) for chunk in found]
    _account(connection, row, chunk_rows, sign=-1)
    pending.drop(number)
    postings.unindex(connection, number)
    connection.execute(
        "DELETE FROM scan WHERE chunk IN (SELECT id FROM chunks WHERE document = ?)", (number,)
    )
    connection.execute("DELETE FROM chunks WHERE document = ?", (number,))
    connection.execute("DELETE FROM documents WHERE id = ?", (number,))
    _advance(connection, b"delete", row, chunk_rows, b"")
    return True


def _insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> int:
    query = f"INSERT INTO {table} ({columns(row)}) VALUES ({marks(row)})"
    number = connection.execute(query, list(row.values())).lastrowid
    assert number is not None
    return number


def _refuse_taken(connection: sqlite3.Connection, rows: Iterable[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for row in rows:
        name = row["chunk_id"]
        taken = connection.execute("SELECT 1 FROM chunks WHERE chunk_id = ?", (name,)).fetchone()
        if name in seen or taken:
            whose = "this document" if name in seen else "another document"
            raise BadInput(f"{whose} has a chunk {name!r} already; ids are unique", field="id")
        seen.add(name)


def _audience(connection: sqlite3.Connection, principals: str) -> int:
    """The row of this set of principals (sorted JSON), made where it is new."""
    query = "SELECT id FROM audiences WHERE principals = ?"
    found = connection.execute(query, (principals,)).fetchone()
    if found:
        return int(found[0])
    row = {"principals": principals, "state": EMPTY}
    number = _insert(connection, "audiences", row)
    assert number != PUBLIC
    connection.executemany(
        "INSERT INTO members VALUES (?, ?)", [(name, number) for name in names_of(principals)]
    )
    return number


def _account(
    connection: sqlite3.Connection,
    row: dict[str, Any],
    chunk_rows: Sequence[dict[str, Any]],
    *,
    sign: int,
) -> None:
    by_audience: dict[int, list[bytes]] = {}
    for audience, encoded in members(row, chunk_rows):
        by_audience.setdefault(audience, []).append(encoded)
    for audience, encoded_members in by_audience.items():
        query = "SELECT state FROM audiences WHERE id = ?"
        state = connection.execute(query, (audience,)).fetchone()[0]
        if sign > 0:
            state = shift(state, added=encoded_members)
        else:
            state = shift(state, removed=encoded_members)
        documents = int(audience == row["audience"])
        chunks = len(encoded_members) - documents
        connection.execute(
            "UPDATE audiences SET state = ?, documents = documents + ?, chunks = chunks + ? "
            "WHERE id = ?",
            (state, sign * documents, sign * chunks, audience),
        )


def _advance(
    connection: sqlite3.Connection,
    what: bytes,
    row: dict[str, Any],
    chunk_rows: Sequence[dict[str, Any]],
    vectors: bytes,
) -> None:
    """The next link of the chain: a hash of the one before and of this write."""
    facts = dict(connection.execute("SELECT key, value FROM meta"))
    link = blake3(facts["version"] + what)
    for audience, encoded in members(row, chunk_rows):
        link.update(audience.to_bytes(8, "little") + len(encoded).to_bytes(8, "little") + encoded)
    version = link.update(vectors).digest()
    generation = facts["generation"] + 1
    update = "UPDATE meta SET value = ? WHERE key = ?"
    connection.executemany(update, [(generation, "generation"), (version, "version")])
    connection.execute("INSERT INTO history VALUES (?, ?)", (generation, version))
    connection.execute("DELETE FROM history WHERE generation <= ?", (generation - _HISTORY,))
