"""From one schema to the next, in one transaction: all steps, or the store as it was.

Rules: a step is plain SQL and never changed once it is released; what it leaves behind is, table
by table and column by column, what `schema.TABLES` makes; no step touches what the state root
covers, so the root stays the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from foveate.core.errors import BadInput

# In one go over all rows: there is no index by audience.
_COUNT = """
UPDATE audiences SET {counted} = held.number
FROM (SELECT audience, count(*) AS number FROM {table} GROUP BY audience) AS held
WHERE held.audience = audiences.id"""

STEPS: Mapping[int, tuple[str, ...]] = {
    # How much each audience holds, beside its state.
    1: (
        "ALTER TABLE audiences ADD COLUMN documents INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE audiences ADD COLUMN chunks INTEGER NOT NULL DEFAULT 0",
        _COUNT.format(table="documents", counted="documents"),
        _COUNT.format(table="scan", counted="chunks"),
    ),
    # What is known of texts. And a row of postings may hold several documents now, which older
    # versions cannot take out again.
    2: (
        """CREATE TABLE readings (
            id INTEGER PRIMARY KEY, version TEXT NOT NULL, hash TEXT NOT NULL, data BLOB NOT NULL,
            UNIQUE (version, hash)
        )""",
    ),
}
"""Version → what leads to the one after it."""


def migrated(connection: sqlite3.Connection, wanted: int) -> bool:
    """Bring the store to schema `wanted`; False where another process was quicker."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        for version in range(found, wanted):
            for statement in _step(version):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {wanted}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return bool(found < wanted)


def _step(version: int) -> tuple[str, ...]:
    if version not in STEPS:
        raise BadInput(
            f"nothing leads on from schema {version}; index the documents into a new folder"
        )
    return STEPS[version]
