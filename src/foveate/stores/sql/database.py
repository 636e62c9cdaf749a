"""Statements as values, and what a transaction of an SQL store runs them on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from foveate.stores.checksums import second_key

PUBLIC_AUDIENCE = 0
"""The audience of what everybody may read; its row has no members."""

Rows: TypeAlias = list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement and what is bound to its marks."""

    sql: str
    bound: Sequence[Any] = ()


class Database(ABC):
    """An open transaction of a store, and the dialect of its engine.

    `audience_columns`: id, principals, state, documents, chunks first and the checksum last.
    `nonzero_vector`: the condition, over `scan`, that a vector has a direction.
    """

    __slots__ = ()

    embedder: str
    dimensions: int
    audience_columns: ClassVar[str]
    nonzero_vector: ClassVar[str]

    @abstractmethod
    def run(self, *statements: Statement) -> list[Rows]:
        """The rows of each statement, of all in one round trip."""

    @abstractmethod
    def sql(self, text: str, **parts: Any) -> str:
        """A statement in the engine's form: `{s}` is the schema, `%s` a mark for a value.

        `{audiences_again}`: what FROM reads where an index shows damage to the table.
        """

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

    def statement(self, text: str, bound: Sequence[Any] = (), **parts: Any) -> Statement:
        """A statement written as for `sql`."""
        return Statement(self.sql(text, **parts), bound)

    def rows(self, text: str, bound: Sequence[Any] = (), **parts: Any) -> Rows:
        """The rows of one statement, written as for `sql`."""
        (found,) = self.run(self.statement(text, bound, **parts))
        return found
