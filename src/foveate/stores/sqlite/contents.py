"""What an embedded store holds: audiences, documents, remembered counts, figures."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from sqlite3 import Connection
from typing import Any, TypeAlias

from foveate.core.checks import is_encodable
from foveate.ports import Document
from foveate.stores import filters, outlines
from foveate.stores.checksums import checksum, damage, intact
from foveate.stores.filters import placeholders
from foveate.stores.rows import (
    DOCUMENT_FIELDS,
    parse_principals,
    textless_document_from_row,
    with_text,
)
from foveate.stores.sqlite import schema, vectors
from foveate.stores.sqlite.schema import PUBLIC_AUDIENCE

Audience: TypeAlias = tuple[int, str, bytes, int, int]
"""Row id, principals (sorted JSON), lattice hash, documents and chunks."""

_AUDIENCE_COLUMNS = "id, principals, state, documents, chunks"
_AUDIENCE_DAMAGE = "who may read is not as it was written"


def readable_audiences(connection: Connection, principals: Iterable[str] | None) -> list[Audience]:
    """The audiences of these principals, the public one included, by row id; None is all."""
    if principals is None:
        return _all_audiences(connection)
    names = sorted(name for name in set(principals) if is_encodable(name))
    ids = {PUBLIC_AUDIENCE}
    if names:
        ids |= _audiences_of(connection, names)
    found = _audience_rows(
        connection, f"WHERE id IN ({placeholders(ids)}) ORDER BY id", sorted(ids)
    )
    if len(found) != len(ids) or not all(
        audience[0] == PUBLIC_AUDIENCE or not set(names).isdisjoint(parse_principals(audience[1]))
        for audience in found
    ):
        raise damage(_AUDIENCE_DAMAGE)
    return found


def save_audience(connection: Connection, audience: Audience) -> None:
    """Put an audience in the place of the one with its row id."""
    connection.execute(
        f"INSERT OR REPLACE INTO audiences ({_AUDIENCE_COLUMNS}, checksum) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (*audience, checksum(audience)),
    )


def load_audience(connection: Connection, number: int) -> Audience:
    """The audience with this row id."""
    found = _audience_rows(connection, "WHERE id = ?", [number])
    if not found:
        raise damage(_AUDIENCE_DAMAGE)
    return found[0]


def _audiences_of(connection: Connection, names: list[str]) -> set[int]:
    found, again = (
        {
            row[0]
            for row in connection.execute(
                f"SELECT audience FROM members INDEXED BY {index} "
                f"WHERE principal IN ({placeholders(names)})",
                names,
            )
        }
        for index in ("sqlite_autoindex_members_1", "members_again")
    )
    if found != again:
        raise damage(_AUDIENCE_DAMAGE)
    return found


def _all_audiences(connection: Connection) -> list[Audience]:
    found = _audience_rows(connection, "ORDER BY id", [])
    query = "SELECT count(*) FROM audiences INDEXED BY sqlite_autoindex_audiences_1"
    if len(found) != connection.execute(query).fetchone()[0]:
        raise damage(_AUDIENCE_DAMAGE)
    return found


def _audience_rows(connection: Connection, condition: str, bound: list[int]) -> list[Audience]:
    query = f"SELECT {_AUDIENCE_COLUMNS}, checksum FROM audiences {condition}"
    rows = intact(connection.execute(query, bound), _AUDIENCE_DAMAGE)
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


_READABLE = """d.audience IN ({allowed}) AND NOT EXISTS (
    SELECT 1 FROM chunks AS c WHERE c.document = d.id AND c.audience NOT IN ({allowed}))"""
_FIELDS = ("id", *DOCUMENT_FIELDS, "audience")
_DOCUMENT_DAMAGE = "a document is not as it was written"


def load_document(
    connection: Connection, document_id: str, principals: Iterable[str]
) -> Document | None:
    """One document with its text; None where it is not there, or not all of it to be read."""
    places = outlines.load_places(connection, [document_id]).get(document_id)
    if places is None:
        return None
    (row,) = _document_rows(connection, "d.document_id = ?", [document_id])
    readers = {audience[0] for audience in readable_audiences(connection, principals)}
    if not readers.issuperset((row["audience"], *(audience for _, _, audience in places))):
        return None
    query = "SELECT CAST(text AS BLOB) FROM documents WHERE id = ?"
    (packed,) = connection.execute(query, (row["id"],)).fetchone()
    return with_text(row, packed)


def list_documents(
    connection: Connection, after: str, limit: int, principals: Iterable[str]
) -> list[Document]:
    """Documents behind `after` by id, without their texts; those alone that `document` gives."""
    bound = [audience[0] for audience in readable_audiences(connection, principals)]
    mine = _READABLE.format(allowed=placeholders(bound))
    rows = _document_rows(
        connection,
        f"d.document_id > ? AND {mine} ORDER BY d.document_id LIMIT ?",
        [after, *bound, *bound, limit],
    )
    return list(map(textless_document_from_row, rows))


def list_content_hashes(connection: Connection) -> list[tuple[str, str]]:
    """(document id, content hash) of every document, by id."""
    found = [
        (row["document_id"], row["content_hash"])
        for row in _document_rows(connection, "1 ORDER BY d.document_id", [])
    ]
    if len(found) != sum(audience[3] for audience in readable_audiences(connection, None)):
        raise damage(_DOCUMENT_DAMAGE)
    return found


def _document_rows(
    connection: Connection, condition: str, bound: Sequence[Any]
) -> list[dict[str, Any]]:
    """Documents without their texts, held to their checksums."""
    fields = ", ".join(f"d.{field}" for field in _FIELDS)
    query = (
        f"SELECT {fields}, o.row_checksum FROM documents AS d "
        f"LEFT JOIN outlines AS o ON o.document = d.id WHERE {condition}"
    )
    rows = intact(connection.execute(query, bound), _DOCUMENT_DAMAGE)
    return [dict(zip(_FIELDS, row[:-1], strict=True)) for row in rows]


def load_counts(connection: Connection, fingerprint: str, hashes: Sequence[str]) -> dict[str, int]:
    """Tokens of the texts that were counted under this fingerprint; not of damaged rows."""
    known: dict[str, int] = {}
    wanted = [hash_ for hash_ in hashes if is_encodable(hash_)] if is_encodable(fingerprint) else ()
    for some in filters.iter_batches(wanted):
        query = (
            "SELECT hash, tokens, checksum FROM counts "
            f"WHERE fingerprint = ? AND hash IN ({filters.placeholders(some)})"
        )
        known.update(
            (hash_, tokens)
            for hash_, tokens, noted in connection.execute(query, [fingerprint, *some])
            if noted == checksum((fingerprint, hash_, tokens))
        )
    return known


def save_counts(connection: Connection, fingerprint: str, counts: Mapping[str, int]) -> None:
    """Keep tokens by content hash."""
    if not is_encodable(fingerprint):
        return
    rows = [(fingerprint, hash_, tokens) for hash_, tokens in counts.items() if is_encodable(hash_)]
    connection.executemany(
        "INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", [(*row, checksum(row)) for row in rows]
    )


PARTS: Mapping[str, tuple[str, ...]] = {
    "texts": (
        *("documents", "sqlite_autoindex_documents_1", "documents_again"),
        *("chunks", "sqlite_autoindex_chunks_1", "chunks_by_place", "chunks_by_filter"),
        *("outlines", "sqlite_autoindex_outlines_1"),
    ),
    "words": ("terms", "sqlite_autoindex_terms_1", "terms_again", "postings"),
    "vectors": ("scan",),
    "counts": ("counts",),
}
"""Part → tables and indexes of the database; what is in none of them is `other`."""

_FILES = {
    vectors.FILE: "vectors_file",
    f"{schema.DATABASE}-wal": "log",
    f"{schema.DATABASE}-shm": "log",
}
"""The files beside the database; any other is what a killed process left."""


def count_rows(connection: Connection, principals: Iterable[str] | None) -> tuple[int, int, int]:
    """Documents, chunks, and chunks with a vector that has a direction."""
    mine = readable_audiences(connection, principals)
    bound = [audience[0] for audience in mine]
    query = (
        "SELECT count(*) FROM scan WHERE vector <> zeroblob(length(vector)) "
        f"AND audience IN ({placeholders(bound)})"
    )
    found = connection.execute(query, bound).fetchone()[0]
    return sum(row[3] for row in mine), sum(row[4] for row in mine), found


def bytes_by_part(connection: Connection, folder: Path) -> dict[str, int]:
    """Bytes by part: inside the database where this SQLite can tell, then the files beside it."""
    page = connection.execute("PRAGMA page_size").fetchone()[0]
    free = connection.execute("PRAGMA freelist_count").fetchone()[0] * page
    found = {**_database_bytes(connection), "free": free}
    for path in sorted(folder.iterdir()):
        if path.name == schema.DATABASE or not path.is_file():
            continue
        name = _FILES.get(path.name, "left_over")
        found[name] = found.get(name, 0) + path.stat().st_size
    return found


def _database_bytes(connection: Connection) -> dict[str, int]:
    try:
        rows = connection.execute(
            "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"
        ).fetchall()
    except sqlite3.OperationalError:  # built without it
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        free = connection.execute("PRAGMA freelist_count").fetchone()[0]
        page = connection.execute("PRAGMA page_size").fetchone()[0]
        return {"database": (pages - free) * page}
    found = dict.fromkeys((*PARTS, "other"), 0)
    for name, size in rows:
        part = next((part for part, names in PARTS.items() if name in names), "other")
        found[part] += size
    return found
