"""Statements as values, and how a connection runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from blake3 import blake3

from foveate.stores.postgres.postings import PostingsCache

PUBLIC_AUDIENCE = 0
"""The audience of what everybody may read; its row has no members."""

Rows: TypeAlias = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and what is bound to its marks."""

    sql: str
    bound: Sequence[Any] = ()


_SNAPSHOT = Statement("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def _no_connection(*_: Statement) -> list[Rows]:
    raise AssertionError("a store runs statements on a connection; see StoreContext.on")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContext:
    """What the functions of one store share; statements name schemas in full, for any search path.

    `run`: runs statements in one round trip, and gives the rows of each. `extension`: pgvector's
    schema. `exact`: rows up to which every vector is compared. `cache`: postings that were read.
    """

    schema: str
    extension: str = ""
    dimensions: int = 0
    embedder: str = ""
    exact: int = 300_000
    cache: PostingsCache = field(default_factory=PostingsCache, compare=False)
    run: Callable[..., list[Rows]] = field(default=_no_connection, repr=False, compare=False)

    def on(self, connection: Any, *, snapshot: bool = False, alone: bool = False) -> StoreContext:
        """The same with statements run on this connection.

        `snapshot`: in a read-only transaction that sees one state. `alone`: each statement by
        itself, as VACUUM must be.
        """
        first = [_SNAPSHOT] if snapshot else []

        def run(*statements: Statement) -> list[Rows]:
            asked = [*first, *statements]
            with nullcontext() if alone else connection.pipeline():
                cursors = [connection.cursor(binary=True).execute(a.sql, a.bound) for a in asked]
            rows = [cursor.fetchall() if cursor.description else [] for cursor in cursors]
            found = rows[len(first) :]
            first.clear()
            return found

        return replace(self, run=run)

    def rows(self, text: str, bound: Sequence[Any] = (), **parts: Any) -> Rows:
        """The rows of one statement, written as for `sql`."""
        (found,) = self.run(Statement(self.sql(text, **parts), bound))
        return found

    def sql(self, text: str, **parts: Any) -> str:
        """A statement: `{s}` is the schema, `{v}` pgvector's, `{ids}` the row ids' sequence."""
        ids = f"{quote_literal(self.table('ids'))}::regclass"
        return text.format(
            s=quote_identifier(self.schema), v=quote_identifier(self.extension), ids=ids, **parts
        )

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
