"""Chunks of an SQL store as they are read: with their documents' fields and their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foveate.stores.checksums import damage, intact
from foveate.stores.rows import CHUNK_COLUMNS
from foveate.stores.sql.database import Database, Rows, Statement

CHUNK_DAMAGE = "a chunk is not as it was written"


def chunk_statement(database: Database, condition: str, bound: Sequence[Any]) -> Statement:
    """What `decode_chunk_rows` reads of the chunks whose row id meets the condition."""
    return database.statement(
        f"SELECT {CHUNK_COLUMNS}, {{vector}}, c.audience, c.checksum FROM {{s}}.chunks AS c "
        "JOIN {s}.documents AS d ON d.id = c.document JOIN {s}.scan AS s ON s.chunk = c.id "
        "WHERE c.id {condition}",
        bound,
        vector=database.vector_expression(),
        condition=condition,
    )


def decode_chunk_rows(database: Database, rows: Rows) -> dict[int, tuple[Any, ...]]:
    """Row id → what `chunks_from_rows` reads, held to its checksum."""
    decoded = ((*row[:-3], database.decode_vector(row[-3]), *row[-2:]) for row in rows)
    return {row[0]: row for row in intact(decoded, CHUNK_DAMAGE)}


def load_chunk_rows(database: Database, ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """The rows of these chunks, in this order."""
    (rows,) = database.run(chunk_statement(database, *database.ids_among(ids)))
    found = decode_chunk_rows(database, rows)
    if found.keys() != set(ids):
        raise damage(CHUNK_DAMAGE)
    return [found[number] for number in ids]
