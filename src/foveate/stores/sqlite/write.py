"""Writes of one document with its chunks and all that is derived from them, and compaction."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from secrets import token_bytes
from sqlite3 import Connection
from typing import Any

from foveate.core.state import EMPTY_STATE
from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores import outlines
from foveate.stores.checksums import MASK, checksum, damage, sum_of_vectors
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
from foveate.stores.sql.audiences import AUDIENCE_DAMAGE, DELETE_UNUSED, AudienceTotals
from foveate.stores.sql.database import PUBLIC_AUDIENCE
from foveate.stores.sqlite import postings
from foveate.stores.sqlite.database import SqliteDatabase
from foveate.stores.sqlite.postings import PendingPostings
from foveate.stores.sqlite.schema import load_facts, save_facts
from foveate.stores.sqlite.vectors import rows_of, summed
from foveate.stores.totals import CHUNKS, DOCUMENTS

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
    write = _Write(connection)
    _remove(connection, pending, write, document.id)
    row["audience"] = write.audience(row["principals"])
    packed = zlib.compress(document.text.encode())
    number = _insert(connection, "documents", {**row, "text": packed})
    write.account([document_member(row)], DOCUMENTS)
    seen: set[str] = set()
    places: list[Place] = []
    for start in range(0, len(chunks), SLICE):
        rows = [chunk_row(document, chunk) for chunk in chunks[start : start + SLICE]]
        own = vectors[start : start + SLICE]
        _check_chunk_ids(connection, rows, seen)
        for chunk in rows:
            chunk["audience"] = write.audience(chunk["principals"])
        terms = _put(connection, number, row, rows, own)
        audience = [one["audience"] for one in rows]
        places += zip([one["sequence"] for one in rows], terms, audience, strict=True)
        lengths = [len(some) for some in terms.values()]
        write.scan += sum_of_vectors(list(terms), audience, lengths, own)
        write.account(chunk_members(row, rows), CHUNKS)
        pending.add(number, terms)
        if pending.is_full():
            pending.flush(connection)
    outline = outlines.outline(number, row, places)
    connection.execute("INSERT INTO outlines VALUES (?, ?, ?, ?, ?)", outline)
    write.close()


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
    write = _Write(connection)
    if not _remove(connection, pending, write, document_id):
        return False
    write.close()
    return True


def _remove(
    connection: Connection, pending: PendingPostings, write: _Write, document_id: str
) -> bool:
    names = ["id", "audience", *DOCUMENT_FIELDS]
    query = f"SELECT {quote_columns(names)} FROM documents WHERE document_id = ?"
    values = connection.execute(query, (document_id,)).fetchone()
    if values is None:
        return False
    row = dict(zip(names, values, strict=True))
    number = row["id"]
    write.account([document_member(row)], DOCUMENTS, sign=-1)
    pending.drop(number)
    fields = ["id", "audience", *CHUNK_FIELDS]
    query = f"SELECT {quote_columns(fields)} FROM chunks WHERE document = ? ORDER BY id"
    reading = connection.execute(query, (number,))
    while found := reading.fetchmany(SLICE):
        chunk_rows = [dict(zip(fields, chunk, strict=True)) for chunk in found]
        write.account(chunk_members(row, chunk_rows), CHUNKS, sign=-1)
        terms = {term for chunk in chunk_rows for term in terms_to_index(chunk)}
        postings.unindex(connection, found[0][0], found[-1][0], terms)
    mine = "chunk IN (SELECT id FROM chunks WHERE document = ?)"
    width = load_facts(connection)["dimensions"]
    write.scan -= summed(rows_of(connection, mine, number, width))
    connection.execute(f"DELETE FROM scan WHERE {mine}", (number,))
    connection.execute("DELETE FROM chunks WHERE document = ?", (number,))
    connection.execute("DELETE FROM outlines WHERE document = ?", (number,))
    connection.execute("DELETE FROM documents WHERE id = ?", (number,))
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


def _next_chunk(connection: Connection) -> int:
    """The row id of the next chunk; none is used again."""
    query = "SELECT seq FROM sqlite_sequence WHERE name = 'chunks'"
    last = connection.execute(query).fetchone()
    return int(last[0]) + 1 if last else 1


class _Write:
    """A write's part in the audiences' totals and in the scan's sum."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._totals = AudienceTotals()
        self.scan = 0

    def audience(self, principals: str) -> int:
        """The row of this set of principals (sorted JSON), made where it is new."""
        if principals not in self._totals.ids and not self._load("principals", principals):
            query = "SELECT max(id) + 1 FROM audiences"
            number = int(self._connection.execute(query).fetchone()[0])
            assert number > PUBLIC_AUDIENCE
            self._save((number, principals, EMPTY_STATE, 0, 0))
            members = [(name, number) for name in parse_principals(principals)]
            self._connection.executemany("INSERT INTO members VALUES (?, ?)", members)
            self._load("id", number)
        return self._totals.ids[principals]

    def account(self, members: Sequence[tuple[int, bytes]], figure: int, *, sign: int = 1) -> None:
        """Members by audience that come or go, which count in one of its figures."""
        for number in {audience for audience, _ in members}:
            if number not in self._totals.states and not self._load("id", number):
                raise damage(AUDIENCE_DAMAGE)
        self._totals.apply(members, figure, sign)

    def close(self) -> None:
        """Write the totals, and note this as the latest write."""
        for audience in self._totals.rows():
            self._save(audience)
        known = load_facts(self._connection)
        changes = {"version": token_bytes(16), "scan": known["scan"] + self.scan & MASK}
        save_facts(self._connection, {**known, **changes}, changes)

    def _load(self, column: str, value: str | int) -> bool:
        """Read an audience into the totals; False where it is not there."""
        query = f"SELECT {SqliteDatabase.audience_columns} FROM audiences WHERE {column} = ?"
        rows = self._connection.execute(query, (value,)).fetchall()
        for row in rows:
            self._totals.add(row)
        return bool(rows)

    def _save(self, audience: Sequence[Any]) -> None:
        """Put an audience in the place of the one with its row id."""
        query = "INSERT OR REPLACE INTO audiences VALUES (?, ?, ?, ?, ?, ?)"
        self._connection.execute(query, (*audience, checksum(audience)))


def delete_unused_rows(database: SqliteDatabase) -> None:
    """Forget terms, counts and readers of documents that are gone; merge postings."""
    unused = "DELETE FROM {s}.terms WHERE id NOT IN (SELECT term FROM {s}.postings)"
    database.run(*(database.statement(query) for query in (unused, *DELETE_UNUSED)))
    postings.merge(database.connection)


def shrink_files(connection: Connection) -> None:
    """Write the database again without its empty pages, and empty the log of writes."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
