"""PostgreSQL's dialect, and how a connection runs statements."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from blake3 import blake3

from foveate.stores.postgres.postings import PostingsCache
from foveate.stores.sql.database import Database, Rows, Statement

_SNAPSHOT = Statement("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
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
    schema. `exact`: rows up to which every vector is compared. `cache`: postings that were read.
    `wait`: seconds for a lock, and for a statement of a read; 0 for as many as it takes.
    """

    schema: str
    extension: str = ""
    dimensions: int = 0
    embedder: str = ""
    exact: int = 300_000
    wait: int = 10
    audience_columns: ClassVar[str] = (
        "id, principals, state, documents, chunks, words, scan, writes, checksum"
    )
    nonzero_vector: ClassVar[str] = "norm > 0"
    cache: PostingsCache = field(default_factory=PostingsCache, compare=False)
    run: Callable[..., list[Rows]] = field(default=_no_connection, repr=False, compare=False)

    def on(self, connection: Any, *, snapshot: bool = False, alone: bool = False) -> StoreContext:
        """The same with statements run on this connection.

        `snapshot`: in a read-only transaction that sees one state, within `wait`. `alone`: each
        statement by itself, as VACUUM must be.
        """
        first = [_SNAPSHOT] if snapshot else []
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
            v=quote_identifier(self.extension),
            ids=f"{quote_literal(self.table('ids'))}::regclass",
            bytes="bytea",
            audiences_again=f"{s}.audiences",
            **parts,
        )

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

    def table(self, name: str) -> str:
        """A table's name as a value, for `to_regclass` and the like."""
        return f"{quote_identifier(self.schema).replace('%%', '%')}.{name}"

    @property
    def lock_id(self) -> int:
        """The number of the advisory lock that writers of this schema take."""
        digest = blake3(b"foveate:" + self.schema.encode()).digest(8)
        return int.from_bytes(digest, "big", signed=True)


def quote_identifier(name: str) -> str:
    """An identifier as SQL; a percent sign doubled, as the driver wants it.

    >>> quote_identifier('a"b%')
    '"a""b%%"'
    """
    return '"{}"'.format(name.replace('"', '""').replace("%", "%%"))


def quote_literal(text: str) -> str:
    """A string as SQL, for where nothing can be bound."""
    return "'{}'".format(text.replace("'", "''").replace("%", "%%"))
