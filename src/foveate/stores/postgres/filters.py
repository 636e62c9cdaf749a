"""Filters as SQL conditions; the meaning is that of the embedded store.

A value that the server cannot hold (NUL, lone surrogates) matches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveate.core.checks import is_encodable
from foveate.core.errors import BadInput
from foveate.stores.filters import parse_filter_values, parse_filters

FILTER_ROWS = (
    "SELECT c.id, c.document, c.audience, d.document_id, d.source, d.title, c.chunk_id, "
    'c.sequence, c.page, c.section, c."row", c.line, c.facts '
    "FROM {s}.chunks AS c JOIN {s}.documents AS d ON d.id = c.document"
)
"""A query for the rows of the table `filters`."""


def is_storable(text: str) -> bool:
    """Whether the server's texts can hold it."""
    return "\0" not in text and is_encodable(text)


def check_storable(fields: Mapping[str, Any]) -> None:
    """Raise `BadInput` for a text that the server cannot hold; names the field."""
    for name, value in fields.items():
        if isinstance(value, str) and not is_storable(value):
            raise BadInput(
                "holds a zero character (NUL) or half of a surrogate pair, which PostgreSQL "
                "cannot keep; take it out",
                field=name,
            )


def where_condition(where: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """All of `where`, over `chunks AS c` and `documents AS d`; raises `BadOption`, `BadInput`."""
    parts: list[str] = []
    bound: list[Any] = []
    for key, wanted in where.items():
        for value in parse_filter_values(key, wanted):
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise BadInput(f"a number is too large for the store: {value}")
    for column, values, kind in parse_filters(where):
        if kind is list:
            parts.append("c.facts && %s::text[]")
        else:
            parts.append(f"{column} = ANY(%s::{'text' if kind is str else 'bigint'}[])")
        bound.append([v for v in values if not isinstance(v, str) or is_storable(v)])
    return " AND ".join(parts) or "true", bound
