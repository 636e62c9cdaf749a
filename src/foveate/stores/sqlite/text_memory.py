"""What a store remembers of texts by content hash: token counts, and readings as they were sealed.

Not content: answers and the state root do not know of it, and it may be lost at any time. Who has
a content hash has the text, so nobody learns anything here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from foveate.stores import filters
from foveate.stores.checksums import checksum
from foveate.stores.request_checks import is_encodable
from foveate.stores.sqlite.schema import BUSY_MS


def load_counts(
    connection: sqlite3.Connection, fingerprint: str, hashes: Sequence[str]
) -> dict[str, int]:
    """Tokens of the texts that were counted under this fingerprint; not of damaged rows."""
    known: dict[str, int] = {}
    for some in _iter_encodable(fingerprint, hashes):
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


def save_counts(
    connection: sqlite3.Connection, fingerprint: str, counts: Mapping[str, int]
) -> None:
    """Keep tokens by content hash."""
    if not is_encodable(fingerprint):
        return
    rows = [(fingerprint, hash_, tokens) for hash_, tokens in counts.items() if is_encodable(hash_)]
    connection.executemany(
        "INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)",
        [(*row, checksum(row)) for row in rows],
    )


def load_analyses(
    connection: sqlite3.Connection, version: str, hashes: Sequence[str]
) -> dict[str, bytes]:
    """What was kept of the texts under this version."""
    known: dict[str, bytes] = {}
    for some in _iter_encodable(version, hashes):
        query = (
            "SELECT hash, CAST(data AS BLOB) FROM readings "
            f"WHERE version = ? AND hash IN ({filters.placeholders(some)})"
        )
        known.update(connection.execute(query, [version, *some]))
    return known


def save_analyses(
    connection: sqlite3.Connection, version: str, readings: Mapping[str, bytes]
) -> None:
    """Keep bytes by content hash, in the place of those that are there."""
    rows = [(version, hash_, data) for hash_, data in readings.items() if is_encodable(hash_)]
    if not is_encodable(version):
        return
    query = "INSERT OR REPLACE INTO readings (version, hash, data) VALUES (?, ?, ?)"
    connection.executemany(query, rows)


def _iter_encodable(space: str, hashes: Sequence[str]) -> Iterator[Sequence[str]]:
    """The hashes that can be there, as many at a time as one statement takes."""
    return filters.iter_batches(
        [hash_ for hash_ in hashes if is_encodable(hash_)] if is_encodable(space) else ()
    )


@contextmanager
def without_busy_wait(connection: sqlite3.Connection) -> Iterator[None]:
    """Inside, a write that another writer stands in the way of fails at once.

    Nobody who asks a question should wait for a long ingest, only to have something remembered.
    """
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
