"""Statements as values, and the flows of them that a connection runs."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from blake3 import blake3

from foveate.stores.postgres.postings import PostingsCache

if TYPE_CHECKING:
    from psycopg import Connection


PUBLIC_AUDIENCE = 0
"""The audience of what everybody may read; its row has no members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContext:
    """What the flows of one store share; statements name schemas in full, for any search path.

    `extension`: pgvector's schema. `exact`: rows up to which every vector is compared. `cache`:
    postings that were read.
    """

    schema: str
    extension: str = ""
    dimensions: int = 0
    embedder: str = ""
    exact: int = 300_000
    cache: PostingsCache = field(default_factory=PostingsCache, compare=False)

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


T = TypeVar("T")
Rows: TypeAlias = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and what is bound to its marks."""

    sql: str
    bound: Sequence[Any] = ()


StatementFlow: TypeAlias = Generator[Sequence[Statement], list[Rows], T]


def run_flow(connection: Connection[Any], steps: StatementFlow[T], *, alone: bool = False) -> T:
    """Drive a flow; `alone`: each statement by itself, as VACUUM must be."""
    rows: Any = None
    while True:
        try:
            step = steps.send(rows)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        with nullcontext() if alone else connection.pipeline():
            cursors = [connection.cursor(binary=True).execute(ask.sql, ask.bound) for ask in step]
        rows = [cursor.fetchall() if cursor.description else [] for cursor in cursors]
