"""The few facts of an embedded store as a whole, held to their checksum."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from foveate.stores.checksums import checksum, damage

_CHECKSUM = "checksum"


def facts(connection: sqlite3.Connection) -> dict[str, Any]:
    """Embedder, dimensions, number and hash of the last write, and more; raises where damaged."""
    found = unverified(connection)
    if found.pop(_CHECKSUM, None) != sum_of_facts(found):
        raise damage("its facts are not as they were written")
    return found


def unverified(connection: sqlite3.Connection) -> dict[str, Any]:
    """The same as they stand there, for who looks for damage."""
    return dict(connection.execute("SELECT key, value FROM meta"))


def note(connection: sqlite3.Connection, changes: Mapping[str, Any]) -> None:
    """Change some of them."""
    rows = {**facts(connection), **changes}
    seal(connection, rows, changes)


def seal(
    connection: sqlite3.Connection, rows: Mapping[str, Any], changes: Mapping[str, Any]
) -> None:
    """Write what changed, and the checksum of all `rows`."""
    changed = {**changes, _CHECKSUM: sum_of_facts(rows)}
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(changed.items()))


def sum_of_facts(rows: Mapping[str, Any]) -> int:
    """The checksum of all of them."""
    return checksum([part for row in sorted(rows.items()) for part in row])
