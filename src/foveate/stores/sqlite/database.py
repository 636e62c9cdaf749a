"""SQLite's dialect of the statements that the SQL stores have in common."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any, ClassVar

from foveate.core.checks import is_encodable
from foveate.stores.filters import placeholders
from foveate.stores.sql.database import Database, Rows, Statement

_PARTS = {
    "s": "main",
    "bytes": "BLOB",
    "audiences_again": "audiences INDEXED BY sqlite_autoindex_audiences_1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteDatabase(Database):
    """A connection whose transaction is open."""

    connection: Connection
    embedder: str
    dimensions: int
    audience_columns: ClassVar[str] = "id, principals, state, documents, chunks, checksum"
    nonzero_vector: ClassVar[str] = "vector <> zeroblob(length(vector))"

    def run(self, *statements: Statement) -> list[Rows]:
        """The rows of each statement, one after the other."""
        return [self.connection.execute(one.sql, one.bound).fetchall() for one in statements]

    def sql(self, text: str, **parts: Any) -> str:
        """A statement in SQLite's form; see `Database.sql`."""
        return text.format(**_PARTS, **parts).replace("%s", "?")

    def texts_among(self, texts: Sequence[str]) -> tuple[str, list[Any]]:
        """One mark for each text."""
        return f"IN ({placeholders(texts)})", list(texts)

    def ids_among(self, ids: Sequence[int]) -> tuple[str, list[Any]]:
        """One mark for all, so that the statement is prepared once."""
        return "IN (SELECT value FROM json_each(?))", [json.dumps(list(ids))]

    def member_names(self, principals: Iterable[str]) -> list[str]:
        """The names themselves."""
        return sorted(filter(is_encodable, set(principals)))

    def vector_expression(self) -> str:
        """The column."""
        return "s.vector"

    def decode_vector(self, data: bytes) -> bytes:
        """The bytes as they are."""
        return data
