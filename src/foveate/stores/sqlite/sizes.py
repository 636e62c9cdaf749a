"""Bytes that the parts of an embedded store take."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from sqlite3 import Connection

from foveate.stores.sqlite import schema, vectors

PARTS: Mapping[str, tuple[str, ...]] = {
    "texts": (
        *("documents", "sqlite_autoindex_documents_1", "documents_by_key"),
        *("chunks", "sqlite_autoindex_chunks_1", "chunks_by_document"),
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
