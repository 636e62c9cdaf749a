"""What a store holds and how much room it takes. Nothing is changed.

Rules: for a caller with principals, all figures are of what they may read and there are no sizes,
which would tell of the rest; for whoever keeps the store, of everything.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

from foveate.stores import vectors
from foveate.stores.filters import placeholders
from foveate.stores.sqlite import audiences, schema

PARTS: Mapping[str, frozenset[str]] = {
    "texts": frozenset(
        {
            "documents",
            "sqlite_autoindex_documents_1",
            "chunks",
            "sqlite_autoindex_chunks_1",
            "chunks_by_place",
            "chunks_by_filter",
            "documents_again",
            "outlines",
            "sqlite_autoindex_outlines_1",
        }
    ),
    "words": frozenset({"terms", "sqlite_autoindex_terms_1", "terms_again", "postings", "indexed"}),
    "vectors": frozenset({"scan"}),
    "counts": frozenset({"counts"}),
    "readings": frozenset({"readings", "sqlite_autoindex_readings_1"}),
}
"""Part → tables and indexes of the database; what is in none of them is `other`."""

_FILES = {
    vectors.FILE: "vectors_file",
    f"{schema.DATABASE}-wal": "log",
    f"{schema.DATABASE}-shm": "log",
}
"""The files beside the database; any other is what a killed process left."""


def count_rows(
    connection: sqlite3.Connection, principals: Iterable[str] | None
) -> tuple[int, int, int]:
    """Documents, chunks, and chunks with a vector that has a direction."""
    mine = audiences.readable(connection, principals)
    bound = [audience[0] for audience in mine]
    query = (
        "SELECT count(*) FROM scan WHERE vector <> zeroblob(length(vector)) "
        f"AND audience IN ({placeholders(bound)})"
    )
    found = connection.execute(query, bound).fetchone()[0]
    return sum(row[3] for row in mine), sum(row[4] for row in mine), found


def bytes_by_part(connection: sqlite3.Connection, folder: Path) -> dict[str, int]:
    """Bytes by part: inside the database where this SQLite can tell, then the files beside it."""
    page = connection.execute("PRAGMA page_size").fetchone()[0]
    free = connection.execute("PRAGMA freelist_count").fetchone()[0] * page
    found = {**_database_bytes(connection), "free": free}
    for path in sorted(folder.iterdir()):
        if path.name == schema.DATABASE or not path.is_file():
            continue
        near = path.name.startswith("nearby-")
        name = "nearby_files" if near else _FILES.get(path.name, "left_over")
        found[name] = found.get(name, 0) + path.stat().st_size
    return found


def _database_bytes(connection: sqlite3.Connection) -> dict[str, int]:
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
