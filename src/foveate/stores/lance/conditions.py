"""Conditions of Lance's SQL over the rows of the table; values are quoted here."""

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
    """All of `where`, over the facts of a chunk; raises `BadOption`."""
    return all_of(
        *(
            f"array_has_any(labels, [{', '.join(map(quote_literal, facts))}])" if facts else "false"
            for facts in parse_filters(where)
        )
    )


def all_of(*conditions: str) -> str:
    """Conditions that must all hold."""
    return " AND ".join(f"({one})" for one in conditions)
