"""Statements as values, and what a transaction of an SQL store runs them on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from foveate.core.bounded_cache import BoundedCache
from foveate.stores.checksums import second_key

PUBLIC_AUDIENCE = 0
"""The audience of what everybody may read; its row has no members."""

CACHE_BYTES = 64 << 20
"""Bytes of what searches have read: twenty words that stand in each of 200,000 chunks."""

Rows: TypeAlias = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and what is bound to its marks; `many`: rows, for each of which it runs."""

    sql: str
    bound: Sequence[Any] = ()
    many: bool = False


def _new_cache() -> BoundedCache[tuple[bytes, str], Any]:
    return BoundedCache(CACHE_BYTES, largest=CACHE_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Database(ABC):
    """An open transaction of a store, and the dialect of its engine.

    `cache`: what searches have read, by state and term.
    """

    embedder: str = ""
    dimensions: int = 0
    cache: BoundedCache[tuple[bytes, str], Any] = field(default_factory=_new_cache, compare=False)

    @abstractmethod
    def run(self, *statements: Statement) -> list[Rows]:
        """The rows of each statement, of all in one round trip."""

    @abstractmethod
    def sql(self, text: str, **parts: Any) -> str:
        """A statement in the engine's form: `%s` is a mark for a value, `{s}` the schema.

        `{audiences_again}`: what FROM reads where an index shows damage to the table. `{places}`:
        those of a row of `postings AS p`; `{joined}`: those of several rows as one value, where the
        engine can do that, with `{grouped}` at the end. `{clustered}`: behind a table that is its
        own index. `{on}`: before the table of an index.
        """

    @abstractmethod
    def column_types(self) -> Mapping[str, str]:
        """Kind of a column → type."""

    def check_row(self, row: Mapping[str, Any]) -> None:  # noqa: B027 (most can hold any)
        """Raise `BadInput` for a text that the engine cannot hold; names the field."""

    @abstractmethod
    def begin_statements(self) -> list[Statement]:
        """What a write runs first."""

    @abstractmethod
    def insert(self, table: str, rows: Sequence[Sequence[Any]], end: str = "") -> Statement:
        """Insert rows with all columns of the table AS t; `end`: what follows."""

    @abstractmethod
    def delete(self, table: str, keys: Sequence[str], rows: Sequence[Sequence[Any]]) -> Statement:
        """Delete the rows of which these columns have one of these values together."""

    @abstractmethod
    def texts_among(self, texts: Sequence[str]) -> tuple[str, list[Any]]:
        """The condition that a column is one of these texts, and what is bound."""

    @abstractmethod
    def ids_among(self, ids: Sequence[int]) -> tuple[str, list[Any]]:
        """The same of row ids."""

    def named(self, text: str, key: str, names: Sequence[str]) -> tuple[str, list[Any]]:
        """The condition that a row has one of these names in a column, or its key in another."""
        texts, bound = self.texts_among(names)
        keys, also = self.ids_among([second_key(name) for name in names])
        return f"({text} {texts} OR {key} {keys})", [*bound, *also]

    @abstractmethod
    def member_names(self, principals: Iterable[str]) -> list[str]:
        """These principals as they are written in `members`."""

    @abstractmethod
    def vector_expression(self) -> str:
        """The expression that hands a stored vector out, from `scan AS s`."""

    @abstractmethod
    def decode_vector(self, data: bytes) -> bytes:
        """What that gives, as int8 bytes."""

    @abstractmethod
    def encode_vectors(self, vectors: Any) -> list[Any]:
        """Int8 rows as they are stored."""

    def statement(self, text: str, bound: Sequence[Any] = (), **parts: Any) -> Statement:
        """A statement written as for `sql`."""
        return Statement(self.sql(text, **parts), bound)

    def rows(self, text: str, bound: Sequence[Any] = (), **parts: Any) -> Rows:
        """The rows of one statement, written as for `sql`."""
        (found,) = self.run(self.statement(text, bound, **parts))
        return found


def upsert(keys: str, *columns: str) -> str:
    """The end of an insert that replaces these columns of rows with the same key."""
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns)
    return f" ON CONFLICT ({keys}) DO UPDATE SET {changes}"
