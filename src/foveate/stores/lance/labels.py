"""Filters as conditions of Lance's SQL over chunks and their facts; values are quoted here.

The meaning is that of the embedded store: a text column compares texts, a number column numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from foveate.core.checks import is_encodable
from foveate.stores.filters import (
    NUMBER_COLUMNS,
    TEXT_COLUMNS,
    encode_fact,
    integer_from_value,
    parse_filter_values,
    text_from_value,
)


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
    for key, wanted in where.items():
        values = parse_filter_values(key, wanted)
        if key in TEXT_COLUMNS:
            column = TEXT_COLUMNS[key].partition(".")[2]
            parts.append(in_condition(column, map(text_from_value, values)))
        elif key in NUMBER_COLUMNS:
            numbers = [n for n in map(integer_from_value, values) if n is not None]
            parts.append(in_condition(f"`{key}`", numbers))
        else:
            said = ", ".join(quote_literal(encode_fact(key, value)) for value in values)
            parts.append(f"array_has_any(labels, [{said}])" if said else "false")
    return " AND ".join(f"({part})" for part in parts)
