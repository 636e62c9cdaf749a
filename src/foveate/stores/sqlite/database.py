"""SQLite's dialect of the statements that the SQL stores have in common."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from foveate.core.checks import is_encodable
from foveate.stores.rows import quote_columns
from foveate.stores.sql.database import Database, Rows, Statement
from foveate.stores.sql.tables import COLUMNS

_PARTS = {
    "s": "main",
    "on": "",
    "bytes": "BLOB",
    "audiences_again": "audiences INDEXED BY audiences_by_key",
    "places": "CAST(p.places AS BLOB)",
    "joined": "CAST(p.places AS BLOB)",
    "grouped": " ORDER BY p.term, p.audience, p.first",
    "clustered": " WITHOUT ROWID",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteDatabase(Database):
    """A connection whose transaction is open."""

    connection: Connection

    def run(self, *statements: Statement) -> list[Rows]:
        """The rows of each statement, one after the other."""
        return [
            self.connection.executemany(one.sql, one.bound).fetchall()
            if one.many
            else self.connection.execute(one.sql, one.bound).fetchall()
            for one in statements
        ]

    def sql(self, text: str, **parts: Any) -> str:
        """A statement in SQLite's form; see `Database.sql`."""
        return text.format(**_PARTS, **parts).replace("%s", "?")

    def column_types(self) -> Mapping[str, str]:
        """Kind of a column → type."""
        kinds = {"int": "INTEGER", "small": "INTEGER", "text": "TEXT", "name": "TEXT"}
        return {**kinds, "bytes": "BLOB", "vector": "BLOB"}

    def begin_statements(self) -> list[Statement]:
        """None: the transaction has the lock."""
        return []

    def insert(self, table: str, rows: Sequence[Sequence[Any]], end: str = "") -> Statement:
        """One statement that runs for each row."""
        columns = COLUMNS[table]
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO main.{table} AS t ({quote_columns(columns)}) VALUES ({marks}){end}"
        return Statement(sql, rows, many=True)

    def delete(self, table: str, keys: Sequence[str], rows: Sequence[Sequence[Any]]) -> Statement:
        """The same for deleting."""
        condition = " AND ".join(f"{key} = ?" for key in keys)
        return Statement(f"DELETE FROM main.{table} WHERE {condition}", rows, many=True)

    def texts_among(self, texts: Sequence[str]) -> tuple[str, list[Any]]:
        """One mark for each text."""
        return f"IN ({', '.join('?' * len(texts))})", list(texts)

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

    def encode_vectors(self, vectors: Any) -> list[Any]:
        """The bytes of each."""
        return [row.tobytes() for row in vectors]
