"""Writes of one document with its chunks and all that is derived from them, and compaction."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from secrets import token_bytes
from sqlite3 import Connection
from typing import Any

from foveate.core.state import EMPTY_STATE, update_state
from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores import outlines
from foveate.stores.checksums import MASK, sum_of_vectors
from foveate.stores.filters import placeholders
from foveate.stores.outlines import Place
from foveate.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    chunk_checksum,
    chunk_members,
    chunk_row,
    document_member,
    document_row,
    duplicate_id_error,
    parse_principals,
    quote_columns,
    terms_to_index,
)
from foveate.stores.sqlite import contents, postings
from foveate.stores.sqlite.postings import PendingPostings
from foveate.stores.sqlite.schema import PUBLIC_AUDIENCE, load_facts, save_facts
from foveate.stores.sqlite.vectors import rows_of, summed

SLICE = 1_024
"""Chunks whose rows are made, or read, together."""


def replace_document(
    connection: Connection,
    pending: PendingPostings,
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Any,
) -> None:
    """Replace the document of this id; `vectors`: int8. The last postings wait in `pending`."""
    row = document_row(document)
    remove_document(connection, pending, document.id)
    row["audience"] = _audience_id(connection, row["principals"])
    packed = zlib.compress(document.text.encode())
    number = _insert(connection, "documents", {**row, "text": packed})
    totals = _Write(connection)
    totals.account([document_member(row)], documents=1)
    seen: set[str] = set()
    places: list[Place] = []
    for start in range(0, len(chunks), SLICE):
        rows = [chunk_row(document, chunk) for chunk in chunks[start : start + SLICE]]
        own = vectors[start : start + SLICE]
        _check_chunk_ids(connection, rows, seen)
        terms = _put(connection, number, row, rows, own)
        audience = [one["audience"] for one in rows]
        places += zip([one["sequence"] for one in rows], terms, audience, strict=True)
        lengths = [len(some) for some in terms.values()]
        scan = sum_of_vectors(list(terms), audience, lengths, own)
        totals.account(chunk_members(row, rows), scan=scan)
        pending.add(number, terms)
        if pending.is_full():
            pending.flush(connection)
    outline = outlines.outline(number, row, places)
    connection.execute("INSERT INTO outlines VALUES (?, ?, ?, ?, ?)", outline)
    totals.close()


def _put(
    connection: Connection,
    document: int,
    row: dict[str, Any],
    rows: Sequence[dict[str, Any]],
    vectors: Any,
) -> dict[int, Sequence[str]]:
    """Write a slice of a document's chunks; their terms, by the chunks' row ids."""
    terms: dict[int, Sequence[str]] = {}
    scanned: list[tuple[int, int, int, bytes]] = []
    first = _next_chunk(connection)
    for chunk, (fields, vector) in enumerate(zip(rows, vectors, strict=True), first):
        fields["audience"] = _audience_id(connection, fields["principals"])
        own = {
            "id": chunk,
            "document": document,
            "checksum": chunk_checksum(chunk, row, fields, vector.tobytes()),
        }
        _insert(connection, "chunks", {**fields, **own})
        terms[chunk] = terms_to_index(fields)
        scanned.append((chunk, fields["audience"], len(terms[chunk]), vector.tobytes()))
    connection.executemany("INSERT INTO scan VALUES (?, ?, ?, ?)", scanned)
    return terms


def remove_document(connection: Connection, pending: PendingPostings, document_id: str) -> bool:
    """Take the document and all that belongs to it out; False where it was not there."""
    names = ["id", "audience", *DOCUMENT_FIELDS]
    query = f"SELECT {quote_columns(names)} FROM documents WHERE document_id = ?"
    values = connection.execute(query, (document_id,)).fetchone()
    if values is None:
        return False
    row = dict(zip(names, values, strict=True))
    number = row["id"]
    totals = _Write(connection)
    totals.account([document_member(row)], documents=-1)
    pending.drop(number)
    fields = ["id", "audience", *CHUNK_FIELDS]
    query = f"SELECT {quote_columns(fields)} FROM chunks WHERE document = ? ORDER BY id"
    reading = connection.execute(query, (number,))
    while found := reading.fetchmany(SLICE):
        chunk_rows = [dict(zip(fields, chunk, strict=True)) for chunk in found]
        totals.account(chunk_members(row, chunk_rows), sign=-1)
        terms = {term for chunk in chunk_rows for term in terms_to_index(chunk)}
        postings.unindex(connection, found[0][0], found[-1][0], terms)
    mine = "chunk IN (SELECT id FROM chunks WHERE document = ?)"
    width = load_facts(connection)["dimensions"]
    totals.scan -= summed(rows_of(connection, mine, number, width))
    connection.execute(f"DELETE FROM scan WHERE {mine}", (number,))
    connection.execute("DELETE FROM chunks WHERE document = ?", (number,))
    connection.execute("DELETE FROM outlines WHERE document = ?", (number,))
    connection.execute("DELETE FROM documents WHERE id = ?", (number,))
    totals.close()
    return True


def _insert(connection: Connection, table: str, row: dict[str, Any]) -> int:
    query = f"INSERT INTO {table} ({quote_columns(row)}) VALUES ({placeholders(row)})"
    number = connection.execute(query, list(row.values())).lastrowid
    assert number is not None
    return number


def _check_chunk_ids(
    connection: Connection, rows: Iterable[dict[str, Any]], seen: set[str]
) -> None:
    """Refuse ids that are there already; `seen`: those of this document so far."""
    for row in rows:
        name = row["chunk_id"]
        taken = connection.execute("SELECT 1 FROM chunks WHERE chunk_id = ?", (name,)).fetchone()
        if name in seen or taken:
            whose = "this document" if name in seen else "another document"
            raise duplicate_id_error(whose, name)
        seen.add(name)


def _audience_id(connection: Connection, principals: str) -> int:
    """The row of this set of principals (sorted JSON), made where it is new."""
    query = "SELECT id FROM audiences WHERE principals = ?"
    found = connection.execute(query, (principals,)).fetchone()
    if found:
        return int(found[0])
    number = int(connection.execute("SELECT max(id) + 1 FROM audiences").fetchone()[0])
    assert number > PUBLIC_AUDIENCE
    contents.save_audience(connection, (number, principals, EMPTY_STATE, 0, 0))
    connection.executemany(
        "INSERT INTO members VALUES (?, ?)",
        [(name, number) for name in parse_principals(principals)],
    )
    return number


def _next_chunk(connection: Connection) -> int:
    """The row id of the next chunk; none is used again."""
    query = "SELECT seq FROM sqlite_sequence WHERE name = 'chunks'"
    last = connection.execute(query).fetchone()
    return int(last[0]) + 1 if last else 1


class _Write:
    """A write's part in the audiences' totals and in the scan's sum."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.scan = 0

    def account(
        self,
        found: Iterable[tuple[int, bytes]],
        *,
        documents: int = 0,
        sign: int = 1,
        scan: int = 0,
    ) -> None:
        """Members by audience: one more or less of `documents`, or chunks that come or go."""
        by_audience: dict[int, list[bytes]] = {}
        for audience, encoded in found:
            by_audience.setdefault(audience, []).append(encoded)
        self.scan += scan
        sign = documents or sign
        for audience, members in by_audience.items():
            _, principals, state, own, chunks = contents.load_audience(self._connection, audience)
            state = update_state(
                state, **({"added": members} if sign > 0 else {"removed": members})
            )
            chunks += 0 if documents else sign * len(members)
            changed = (audience, principals, state, own + documents, chunks)
            contents.save_audience(self._connection, changed)

    def close(self) -> None:
        """Note it as the latest one."""
        known = load_facts(self._connection)
        changes = {"version": token_bytes(16), "scan": known["scan"] + self.scan & MASK}
        save_facts(self._connection, {**known, **changes}, changes)


_DELETE_UNUSED = (
    "DELETE FROM terms WHERE id NOT IN (SELECT term FROM postings)",
    "DELETE FROM counts WHERE hash NOT IN (SELECT content_hash FROM chunks)",
    f"DELETE FROM audiences WHERE id <> {PUBLIC_AUDIENCE} AND documents = 0 AND chunks = 0",
    "DELETE FROM members WHERE audience NOT IN (SELECT id FROM audiences)",
)


def delete_unused_rows(connection: Connection) -> None:
    """Forget terms, counts and readers of documents that are gone; merge postings."""
    for statement in _DELETE_UNUSED:
        connection.execute(statement)
    postings.merge(connection)


def shrink_files(connection: Connection) -> None:
    """Write the database again without its empty pages, and empty the log of writes."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
