"""What a store holds and how much room it takes. Nothing is changed.

Rules: for a caller with principals, all figures are of what they may read and there are no sizes,
which would tell of the rest; for whoever keeps the store, of everything.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from foveate.adapters.stores import filters, schema, vectors

PARTS: Mapping[str, frozenset[str]] = {
    "texts": frozenset(
        {
            "documents",
            "sqlite_autoindex_documents_1",
            "chunks",
            "sqlite_autoindex_chunks_1",
            "chunks_by_place",
        }
    ),
    "words": frozenset({"terms", "sqlite_autoindex_terms_1", "postings", "indexed"}),
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


def held(connection: sqlite3.Connection, principals: Iterable[str] | None) -> tuple[int, int, int]:
    """Documents, chunks, and chunks with a vector that has a direction."""
    condition, bound = "1", list[Any]()
    if principals is not None:
        allowed, bound = filters.audiences(principals)
        condition = f"{{}} IN ({allowed})"
    query = "SELECT coalesce(sum(documents), 0), coalesce(sum(chunks), 0) FROM audiences WHERE "
    documents, chunks = connection.execute(query + condition.format("id"), bound).fetchone()
    query = "SELECT count(*) FROM scan WHERE vector <> zeroblob(length(vector)) AND "
    found = connection.execute(query + condition.format("audience"), bound).fetchone()[0]
    return documents, chunks, found


def sizes(connection: sqlite3.Connection, folder: Path) -> dict[str, int]:
    """Bytes by part: inside the database where this SQLite can tell, then the files beside it."""
    page = connection.execute("PRAGMA page_size").fetchone()[0]
    free = connection.execute("PRAGMA freelist_count").fetchone()[0] * page
    found = {**_inside(connection), "free": free}
    for path in sorted(folder.iterdir()):
        if path.name == schema.DATABASE or not path.is_file():
            continue
        near = path.name.startswith("nearby-")
        name = "nearby_files" if near else _FILES.get(path.name, "left_over")
        found[name] = found.get(name, 0) + path.stat().st_size
    return found


def _inside(connection: sqlite3.Connection) -> dict[str, int]:
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
