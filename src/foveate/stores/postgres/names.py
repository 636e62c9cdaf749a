"""The names that statements are put together with, quoted once. Values are always bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blake3 import blake3

PUBLIC_AUDIENCE = 0
"""The audience of what everybody may read; its row has no members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """A store's schema, the schema that pgvector is in, and the width of the vectors.

    Everything is named in full, so that no search path of a session matters.
    """

    schema: str
    extension: str = ""
    dimensions: int = 0

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
