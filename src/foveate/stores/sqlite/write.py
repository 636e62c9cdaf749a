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
from foveate.stores.checksums import MASK, checksum, damage, second_key, sum_of_vectors
from foveate.stores.filters import facts_to_index, placeholders
from foveate.stores.places import Place, encode_places
from foveate.stores.rows import (
    CHUNK_FIELDS,
    DOCUMENT_FIELDS,
    chunk_checksum,
    chunk_members,
    chunk_row,
    document_checksum,
    document_member,
    document_row,
    duplicate_id_error,
    quote_columns,
    terms_to_index,
)
from foveate.stores.sql.audiences import (
    AUDIENCE_DAMAGE,
    DELETE_UNUSED,
    AudienceTotals,
    member_rows,
)
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
    database: SqliteDatabase,
    pending: PendingPostings,
    document: Document,
    chunks: Sequence[Chunk],
    vectors: Any,
) -> None:
    """Replace the document of this id; `vectors`: int8. The last postings wait in `pending`."""
    connection = database.connection
    row = document_row(document)
    write = _Write(database)
    _remove(connection, pending, write, document.id)
    row["audience"] = write.audience(row["principals"])
    row["id"] = number = _next_id(connection, "documents")
    write.account([document_member(row)], DOCUMENTS)
    seen: set[str] = set()
    places: list[Place] = []
    for start in range(0, len(chunks), SLICE):
        rows = [chunk_row(document, chunk) for chunk in chunks[start : start + SLICE]]
        own = vectors[start : start + SLICE]
        _check_chunk_ids(connection, rows, seen)
        for number_, chunk in enumerate(rows, _next_id(connection, "chunks")):
            chunk["id"], chunk["document"] = number_, number
            chunk["audience"] = write.audience(chunk["principals"])
        terms = {chunk["id"]: terms_to_index(chunk) for chunk in rows}
        scanned = [
            (chunk["id"], chunk["audience"], len(terms[chunk["id"]]), vector.tobytes())
            for chunk, vector in zip(rows, own, strict=True)
        ]
        _put(connection, row, rows, scanned)
        places += [(chunk["sequence"], chunk["id"], chunk["audience"]) for chunk in rows]
        ids, audiences, lengths, _ = zip(*scanned, strict=True)
        write.scan += sum_of_vectors(ids, audiences, lengths, own)
        write.account(chunk_members(row, rows), CHUNKS)
        facts = {chunk["id"]: facts_to_index(row, chunk) for chunk in rows}
        pending.add(number, {chunk: [*terms[chunk], *facts[chunk]] for chunk in terms})
        if pending.is_full():
            pending.flush(connection)
    row |= {"key": second_key(document.id), "places": encode_places(places)}
    packed = zlib.compress(document.text.encode())
    _insert(connection, "documents", {**row, "checksum": document_checksum(row), "text": packed})
    write.close()


def _put(
    connection: Connection,
    document: dict[str, Any],
    rows: Iterable[dict[str, Any]],
    scanned: Sequence[tuple[int, int, int, bytes]],
) -> None:
    """Write a slice of a document's chunks, and what searches scan of them."""
    for chunk, (number, audience, terms, vector) in zip(rows, scanned, strict=True):
        own = {field: chunk[field] for field in ("id", "document", *CHUNK_FIELDS)}
        own["checksum"] = chunk_checksum(number, document, chunk, vector, audience, terms)
        _insert(connection, "chunks", own)
    connection.executemany("INSERT INTO scan VALUES (?, ?, ?, ?)", scanned)


def remove_document(database: SqliteDatabase, pending: PendingPostings, document_id: str) -> bool:
    """Take the document and all that belongs to it out; False where it was not there."""
    write = _Write(database)
    if not _remove(database.connection, pending, write, document_id):
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
    query = (
        f"SELECT {quote_columns(fields)} FROM chunks JOIN scan ON chunk = id "
        "WHERE document = ? ORDER BY id"
    )
    reading = connection.execute(query, (number,))
    while found := reading.fetchmany(SLICE):
        chunk_rows = [dict(zip(fields, chunk, strict=True)) for chunk in found]
        write.account(chunk_members(row, chunk_rows), CHUNKS, sign=-1)
        terms = {
            term
            for chunk in chunk_rows
            for term in (*terms_to_index(chunk), *facts_to_index(row, chunk))
        }
        postings.unindex(connection, found[0][0], found[-1][0], terms)
    mine = "chunk IN (SELECT id FROM chunks WHERE document = ?)"
    width = load_facts(connection)["dimensions"]
    write.scan -= summed(rows_of(connection, mine, number, width))
    connection.execute(f"DELETE FROM scan WHERE {mine}", (number,))
    connection.execute("DELETE FROM chunks WHERE document = ?", (number,))
    connection.execute("DELETE FROM documents WHERE id = ?", (number,))
    return True


def _insert(connection: Connection, table: str, row: dict[str, Any]) -> None:
    query = f"INSERT INTO {table} ({quote_columns(row)}) VALUES ({placeholders(row)})"
    connection.execute(query, list(row.values()))


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


def _next_id(connection: Connection, table: str) -> int:
    """The next row id of a table; none is used again."""
    query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
    last = connection.execute(query, (table,)).fetchone()
    return int(last[0]) + 1 if last else 1


class _Write:
    """A write's part in the audiences' totals and in the scan's sum."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database, self._connection = database, database.connection
        self._totals = AudienceTotals()
        self.scan = 0

    def audience(self, principals: str) -> int:
        """The row of this set of principals (sorted JSON), made where it is new."""
        if principals not in self._totals.ids and not self._load("principals", principals):
            query = "SELECT max(id) + 1 FROM audiences"
            number = int(self._connection.execute(query).fetchone()[0])
            assert number > PUBLIC_AUDIENCE
            self._save((number, principals, EMPTY_STATE, 0, 0))
            members = member_rows(self._database, number, principals)
            self._connection.executemany("INSERT INTO members VALUES (?, ?, ?, ?)", members)
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
