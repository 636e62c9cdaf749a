"""Filters as conditions of Lance's SQL, and a chunk's metadata as labels; values are quoted here.

The meaning is that of the embedded store: a text column compares texts, a number column numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from foveate.core.checks import is_encodable
from foveate.stores.filters import (
    NUMBER_COLUMNS,
    TEXT_COLUMNS,
    parse_filter_values,
    text_from_value,
)


def labels_from_metadata(metadata: str) -> list[str]:
    r"""A label for each key and value of a chunk's metadata (stored JSON).

    >>> [
    ...     label.split("\0")
    ...     for label in labels_from_metadata('{"lang": "nl", "tags": ["x", 2], "no": null}')
    ... ]
    [['lang', 'snl'], ['tags', 'sx'], ['tags', 'n2']]
    """
    return [
        _encode_label(key, item)
        for key, value in json.loads(metadata).items()
        for item in (value if isinstance(value, list) else [value])
        if isinstance(item, str | int | float)
    ]


def _encode_label(key: str, value: str | float) -> str:
    """NUL parts them: no key and no value in a store holds one."""
    if isinstance(value, str):
        return f"{key}\0s{value}"
    whole = int(value) if float(value).is_integer() else value
    return f"{key}\0n{whole!r}"


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
            numbers = [n for n in map(_integer_from_value, values) if n is not None]
            parts.append(in_condition(f"`{key}`", numbers))
        else:
            labels = [_encode_label(key, value) for value in values]
            said = ", ".join(quote_literal(label) for label in labels if is_encodable(label))
            parts.append(f"array_has_any(labels, [{said}])" if said else "false")
    return " AND ".join(f"({part})" for part in parts)


def _integer_from_value(value: str | float) -> int | None:
    """The whole number that a value is or spells, within 64 bits; None where it is none."""
    try:
        number = float(value) if isinstance(value, str) else value
        whole = int(value) if isinstance(value, str) and value.strip().isdigit() else int(number)
    except (ValueError, OverflowError):
        return None
    return whole if whole == number and -(2**63) <= whole < 2**63 else None
