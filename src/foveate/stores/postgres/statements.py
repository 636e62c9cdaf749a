"""PostgreSQL's dialect, and how a connection runs statements."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from foveate.core.checks import is_encodable
from foveate.core.errors import BadInput
from foveate.stores.checksums import second_key
from foveate.stores.rows import quote_columns
from foveate.stores.sql.database import Database, Rows, Statement
from foveate.stores.sql.tables import COLUMNS

_SNAPSHOT = Statement("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
_NO_JIT = Statement("SELECT set_config('jit', 'off', true)")
"""Compiling a statement of ours takes longer than running it."""
_TIMEOUTS = """SELECT set_config('lock_timeout', %s, true),
    CASE current_setting('statement_timeout') WHEN '0' THEN
    set_config('statement_timeout', %s, true) END"""
"""Of this transaction; a time limit that the server has stays."""


def _no_connection(*_: Statement) -> list[Rows]:
    raise AssertionError("a store runs statements on a connection; see StoreContext.on")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContext(Database):
    """What the functions of one store share; statements name schemas in full, for any search path.

    `run`: runs statements in one round trip, and gives the rows of each. `extension`: pgvector's
    schema. `wait`: seconds for a lock, and for a statement of a read; 0 for as many as it takes.
    """

    schema: str
    extension: str = ""
    wait: int = 10
    run: Callable[..., list[Rows]] = field(default=_no_connection, repr=False, compare=False)

    def on(self, connection: Any, *, snapshot: bool = False, alone: bool = False) -> StoreContext:
        """The same with statements run on this connection.

        `snapshot`: in a read-only transaction that sees one state, within `wait`. `alone`: each
        statement by itself, as VACUUM must be.
        """
        first = [_SNAPSHOT, _NO_JIT] if snapshot else []
        if snapshot and self.wait:
            lock = 1_000 * self.wait  # it ends first, as it says why
            first.append(Statement(_TIMEOUTS, [str(lock), str(lock + 200)]))

        def run(*statements: Statement) -> list[Rows]:
            asked = [*first, *statements]
            with nullcontext() if alone else connection.pipeline():
                cursors = [connection.cursor(binary=True).execute(a.sql, a.bound) for a in asked]
            rows = [cursor.fetchall() if cursor.description else [] for cursor in cursors]
            found = rows[len(first) :]
            first.clear()
            return found

        return replace(self, run=run)

    def sql(self, text: str, **parts: Any) -> str:
        """A statement; beside what `Database` says, `{v}` is pgvector's schema."""
        s = quote_identifier(self.schema)
        return text.format(
            s=s,
            on=f"{s}.",
            v=quote_identifier(self.extension),
            bytes="bytea",
            audiences_again=f"{s}.audiences",
            places="p.places",
            joined="string_agg(p.places, ''::bytea)",
            grouped=" GROUP BY p.term",
            clustered="",
            **parts,
        )

    def column_types(self) -> Mapping[str, str]:
        """Kind of a column → type."""
        vector = self.sql(f"{{v}}.halfvec({self.dimensions})") if self.dimensions else "bytea"
        kinds = {"int": "bigint", "small": "integer", "text": "text", "bytes": "bytea"}
        return {**kinds, "name": 'text COLLATE "C"', "vector": vector}

    def check_row(self, row: Mapping[str, Any]) -> None:
        """Raise `BadInput` for a text that the server cannot hold; names the field."""
        for name, value in row.items():
            if isinstance(value, str) and not is_storable(value):
                raise BadInput(
                    "holds a zero character (NUL) or half of a surrogate pair, which PostgreSQL "
                    "cannot keep; take it out",
                    field=name,
                )

    def begin_statements(self) -> list[Statement]:
        """The lock."""
        return [self.lock_statement()]

    def lock_statement(self) -> Statement:
        """Lock out other writers of this schema until the transaction ends, with a time limit."""
        query = "SELECT set_config('lock_timeout', %s, true), pg_advisory_xact_lock(%s)"
        return Statement(query, [str(1_000 * self.wait), second_key(f"foveate:{self.schema}")])

    def insert(self, table: str, rows: Sequence[Sequence[Any]], end: str = "") -> Statement:
        """All rows in one statement."""
        columns = COLUMNS[table]
        query = f"INSERT INTO {{s}}.{table} AS t ({quote_columns(columns)}) SELECT * FROM {{rows}}"
        unnest, bound = self._rows([*columns.values()], rows)
        return self.statement(query + end, bound, rows=unnest)

    def delete(self, table: str, keys: Sequence[str], rows: Sequence[Sequence[Any]]) -> Statement:
        """All rows in one statement."""
        unnest, bound = self._rows([COLUMNS[table][key] for key in keys], rows)
        condition = " AND ".join(f"t.{key} = g.{key}" for key in keys)
        query = f"DELETE FROM {{s}}.{table} AS t USING {{rows}} AS g ({', '.join(keys)}) WHERE "
        return self.statement(query + condition, bound, rows=unnest)

    def _rows(
        self, kinds: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> tuple[str, list[list[Any]]]:
        """Rows as a table, and what is bound."""
        types = self.column_types()
        names = (types[kind.removesuffix("?")].partition(" ")[0] for kind in kinds)
        marks = ", ".join(f"%s::{name}[]" for name in names)
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in kinds]
        return f"unnest({marks})", columns

    def texts_among(self, texts: Sequence[str]) -> tuple[str, list[Any]]:
        """One mark for all."""
        return "= ANY(%s::text[])", [list(texts)]

    def ids_among(self, ids: Sequence[int]) -> tuple[str, list[Any]]:
        """One mark for all."""
        return "= ANY(%s::bigint[])", [list(ids)]

    def member_names(self, principals: Iterable[str]) -> list[str]:
        """JSON strings, which hold any character."""
        return [json.dumps(name) for name in sorted(set(principals))]

    def vector_expression(self) -> str:
        """The bytes that pgvector sends."""
        return self.sql("{v}.halfvec_send(s.vector)") if self.dimensions else "s.vector"

    def decode_vector(self, data: bytes) -> bytes:
        """Half floats, which are whole numbers."""
        if not self.dimensions:
            return b""
        return np.frombuffer(data, dtype=">f2", offset=4).astype(np.int8).tobytes()

    def encode_vectors(self, vectors: Any) -> list[Any]:
        """As pgvector spells them."""
        return format_vectors(vectors) if self.dimensions else [b""] * len(vectors)

    def table(self, name: str) -> str:
        """A table's name as a value, for `to_regclass` and the like."""
        return f"{quote_identifier(self.schema).replace('%%', '%')}.{name}"


def is_storable(text: str) -> bool:
    """Whether the server's texts can hold it."""
    return "\0" not in text and is_encodable(text)


def format_vectors(rows: Any) -> list[str]:
    """Int8 rows as pgvector spells them."""
    return [f"[{','.join(map(str, row))}]" for row in rows.tolist()]


def quote_identifier(name: str) -> str:
    """An identifier as SQL; a percent sign doubled, as the driver wants it.

    >>> quote_identifier('a"b%')
    '"a""b%%"'
    """
    return '"{}"'.format(name.replace('"', '""').replace("%", "%%"))


def quote_literal(text: str) -> str:
    """A string as SQL, for where nothing can be bound."""
    return "'{}'".format(text.replace("'", "''").replace("%", "%%"))
