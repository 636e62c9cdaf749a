"""Filters as conditions of Lance's SQL over chunks and their facts; values are quoted here.

The meaning is that of the embedded store: a text column compares texts, a number column numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from foveate.core.checks import is_encodable
from foveate.stores.filters import parse_filters

IS_CHUNK, IS_DOCUMENT = "chunk_id IS NOT NULL", "packed IS NOT NULL"
"""Which rows of the table are what."""


def quote_literal(value: str) -> str:
    """A text as SQL writes it; the only character with a meaning inside is the quote."""
    return "'" + value.replace("'", "''") + "'"


def in_condition(column: str, values: Iterable[str | int]) -> str:
    """`column IN (...)`; nothing is among no values."""
    said = [
        quote_literal(v) if isinstance(v, str) else str(v)
        for v in values
        if not isinstance(v, str) or is_encodable(v)
    ]
    return f"{column} IN ({', '.join(said)})" if said else "false"


def where_condition(where: Mapping[str, Any]) -> str:
    """All of `where`, over a chunk's columns; raises `BadOption`."""
    parts: list[str] = []
    for column, values, kind in parse_filters(where):
        name = column.rpartition(".")[2].strip('"')
        if kind is list:
            said = ", ".join(map(quote_literal, values))
            parts.append(f"array_has_any(labels, [{said}])" if said else "false")
        else:
            parts.append(in_condition(name if kind is str else f"`{name}`", values))
    return all_of(*parts)


def all_of(*conditions: str) -> str:
    """Conditions that must all hold."""
    return " AND ".join(f"({one})" for one in conditions)
