"""Who may read what in an embedded store: the audiences of a reader, held to their checksums.

Rules: a reader's audiences are looked up in two indexes, so that neither a member who is hidden by
damage nor one who was made by it goes unseen; an audience found says itself whose it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TypeAlias

from foveate.stores.checksums import checksum, damage, intact
from foveate.stores.filters import placeholders
from foveate.stores.request_checks import is_encodable
from foveate.stores.rows import parse_principals
from foveate.stores.sqlite.schema import PUBLIC_AUDIENCE

Audience: TypeAlias = tuple[int, str, bytes, int, int]
"""Row id, principals (sorted JSON), lattice hash, documents and chunks."""

_COLUMNS = "id, principals, state, documents, chunks"
_WHAT = "who may read is not as it was written"


def readable(connection: sqlite3.Connection, principals: Iterable[str] | None) -> list[Audience]:
    """The audiences of these principals, the public one included, by row id; None is all."""
    if principals is None:
        return _every(connection)
    names = sorted(name for name in set(principals) if is_encodable(name))
    ids = {PUBLIC_AUDIENCE}
    if names:
        ids |= _members(connection, names)
    found = _rows(connection, f"WHERE id IN ({placeholders(ids)}) ORDER BY id", sorted(ids))
    if len(found) != len(ids) or not all(
        audience[0] == PUBLIC_AUDIENCE or not set(names).isdisjoint(parse_principals(audience[1]))
        for audience in found
    ):
        raise damage(_WHAT)
    return found


def written(connection: sqlite3.Connection, audience: Audience) -> None:
    """Put an audience in the place of the one with its row id."""
    connection.execute(
        f"INSERT OR REPLACE INTO audiences ({_COLUMNS}, checksum) VALUES (?, ?, ?, ?, ?, ?)",
        (*audience, checksum(audience)),
    )


def one(connection: sqlite3.Connection, number: int) -> Audience:
    """The audience with this row id."""
    found = _rows(connection, "WHERE id = ?", [number])
    if not found:
        raise damage(_WHAT)
    return found[0]


def _members(connection: sqlite3.Connection, names: list[str]) -> set[int]:
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
        raise damage(_WHAT)
    return found


def _every(connection: sqlite3.Connection) -> list[Audience]:
    found = _rows(connection, "ORDER BY id", [])
    query = "SELECT count(*) FROM audiences INDEXED BY sqlite_autoindex_audiences_1"
    if len(found) != connection.execute(query).fetchone()[0]:
        raise damage(_WHAT)
    return found


def _rows(connection: sqlite3.Connection, condition: str, bound: list[int]) -> list[Audience]:
    query = f"SELECT {_COLUMNS}, checksum FROM audiences {condition}"
    rows = intact(connection.execute(query, bound), _WHAT)
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]
