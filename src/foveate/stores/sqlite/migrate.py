"""Migrations of an embedded store, in one transaction.

A step is plain SQL with the functions of `checksums.py`, never changes once released, leaves what
`schema.TABLES` makes, and touches nothing that the state root covers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sqlite3 import Connection
from typing import Any

import numpy as np

from foveate.core.errors import BadInput
from foveate.stores import outlines, postings
from foveate.stores.checksums import (
    checksum,
    sum_of_facts,
    sum_of_places,
    sum_of_vectors,
)

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
    # A row of postings may hold several documents now, which older versions cannot take out again.
    2: (),
    # Checksums, and a second index for what is found by a key.
    3: (
        "ALTER TABLE audiences ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",
        "UPDATE audiences SET checksum = checksum(id, principals, state, documents, chunks)",
        "CREATE INDEX members_again ON members (principal, audience)",
        "CREATE INDEX documents_again ON documents (document_id, source, title)",
        """CREATE TABLE outlines (
            document INTEGER PRIMARY KEY, document_id TEXT NOT NULL UNIQUE, places BLOB NOT NULL,
            checksum INTEGER NOT NULL, row_checksum INTEGER NOT NULL
        )""",
        """INSERT INTO outlines SELECT id, document_id, (
            SELECT outline(sequence, id, audience) FROM (
                SELECT c.sequence, c.id, c.audience FROM chunks AS c
                WHERE c.document = d.id ORDER BY c.id
            )), 0,
            checksum(id, document_id, source, title, summary, modified_at, principals, metadata,
                content_hash, text_hash, audience)
            FROM documents AS d""",
        "UPDATE outlines SET checksum = checksum(document, document_id, places)",
        "ALTER TABLE chunks ADD COLUMN key_checksum INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE chunks ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",
        """UPDATE chunks AS c SET
            key_checksum = checksum(
                c.id, d.source, c.sequence, coalesce(c.byte_offset, 0), c.chunk_id
            ),
            checksum = checksum(
                c.id, c.chunk_id, d.document_id, d.source, d.title, c.sequence, c.start, c."end",
                c.byte_offset, c.page, c.section, c."row", c.line, d.summary, d.modified_at,
                c.principals, c.metadata, c.content_hash, c.text, s.vector, c.audience
            )
            FROM documents AS d, scan AS s WHERE d.id = c.document AND s.chunk = c.id""",
        """CREATE INDEX chunks_by_filter ON chunks (
            document, chunk_id, sequence, page, section, "row", line, metadata
        )""",
        "ALTER TABLE terms ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX terms_again ON terms (term)",
        """UPDATE terms SET checksum = (
            SELECT sum_of_places(terms.term, p.places) FROM postings AS p WHERE p.term = terms.id
        )""",
        "ALTER TABLE counts ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0",
        "UPDATE counts SET checksum = checksum(fingerprint, hash, tokens)",
        "INSERT INTO meta SELECT 'scan', sum_of_vectors(chunk, audience, terms, vector) FROM scan",
        "INSERT INTO meta SELECT 'checksum', sum_of_facts(key, value) FROM meta",
    ),
}
"""Version → what leads to the one after it."""


def migrate_schema(connection: Connection, wanted: int) -> bool:
    """Bring the store to schema `wanted`; False where another process was quicker."""
    connection.create_function("checksum", -1, lambda *values: checksum(values))
    for name, width, work in _OF_ROWS:
        connection.create_aggregate(name, width, _over_rows(work))
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        for version in range(found, wanted):
            for statement in _step_statements(version):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {wanted}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return bool(found < wanted)


def _sum_of_places(rows: list[tuple[str, bytes]]) -> int:
    places = [postings.decode_int64s(packed) for _, packed in rows]
    term = rows[0][0] if rows else ""
    return sum_of_places(term, sum(map(sum, places)), sum(map(len, places)))


def _sum_of_vectors(rows: list[tuple[int, int, int, bytes]]) -> int:
    ids, audiences, terms, vectors = zip(*rows, strict=True) if rows else ((), (), (), ())
    wide = np.frombuffer(b"".join(vectors), dtype=np.int8)
    return sum_of_vectors(ids, audiences, terms, wide.reshape(len(rows), -1 if rows else 0))


_OF_ROWS: tuple[tuple[str, int, Callable[[Any], Any]], ...] = (
    ("outline", 3, outlines.encode_places),
    ("sum_of_places", 2, _sum_of_places),
    ("sum_of_vectors", 4, _sum_of_vectors),
    ("sum_of_facts", 2, lambda rows: sum_of_facts(dict(rows))),
)
"""Functions of the steps that take all rows at once."""


def _over_rows(work: Callable[[Any], Any]) -> Any:
    """An aggregate function of SQL that hands all its rows to `work`."""

    class Rows:
        def __init__(self) -> None:
            self.rows: list[tuple[Any, ...]] = []

        def step(self, *row: Any) -> None:
            self.rows.append(row)

        def finalize(self) -> Any:
            return work(self.rows)

    return Rows


def _step_statements(version: int) -> tuple[str, ...]:
    if version not in STEPS:
        raise BadInput(
            f"nothing leads on from schema {version}; index the documents into a new folder"
        )
    return STEPS[version]
