"""Gives back what deleting left behind. What a search finds stays the same, bit for bit.

Rules: first, in one transaction, rows that nothing refers to any more, and postings of many
documents into few rows; then the file is written anew by the engine, which is whole at any
moment; last what killed processes left beside it.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from foveate.stores import postings
from foveate.stores.sqlite.schema import DATABASE, PUBLIC_AUDIENCE
from foveate.stores.stale_versions import find_stale_versions

_STALE_SECONDS = 3_600
"""Seconds after which a file that was to be renamed has nobody left to rename it."""

_DELETE_UNUSED = (
    "DELETE FROM terms WHERE id NOT IN (SELECT term FROM postings)",
    "DELETE FROM counts WHERE hash NOT IN (SELECT content_hash FROM chunks)",
    "DELETE FROM readings WHERE hash NOT IN (SELECT content_hash FROM chunks)",
    f"DELETE FROM audiences WHERE id <> {PUBLIC_AUDIENCE} AND documents = 0 AND chunks = 0",
    "DELETE FROM members WHERE audience NOT IN (SELECT id FROM audiences)",
)


def delete_unused_rows(connection: sqlite3.Connection) -> None:
    """Forget terms, counts, readings and readers of documents that are gone; merge postings."""
    for statement in _DELETE_UNUSED:
        connection.execute(statement)
    versions = "SELECT version FROM readings GROUP BY version ORDER BY max(id) DESC"
    old = find_stale_versions(row[0] for row in connection.execute(versions).fetchall())
    connection.executemany("DELETE FROM readings WHERE version = ?", [(each,) for each in old])
    postings.merge(connection)


def shrink_files(connection: sqlite3.Connection, folder: Path) -> None:
    """Write the database anew without its empty pages, and empty the log of writes."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    now = time.time()
    for pattern in (f"{DATABASE}.*.vectors", f"{DATABASE}.*.new"):
        for path in folder.glob(pattern):
            with suppress(OSError):
                if now - path.stat().st_mtime > _STALE_SECONDS:
                    path.unlink()
