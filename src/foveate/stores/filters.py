"""Checks of search filters, metadata as facts, and filters as SQL conditions for SQLite.

A server store finds a metadata key by its *facts*: each scalar value, and each item of a list, as
JSON with the key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from blake3 import blake3

from foveate.core.checks import is_encodable
from foveate.core.errors import BadOption


def parse_filter_values(key: str, wanted: Any) -> list[Any]:
    """The values that `key` may have; raises `BadOption` for what is no value."""
    many = isinstance(wanted, list | tuple | set | frozenset)
    values = list(wanted) if many else [wanted]
    for value in values:
        if not isinstance(value, str | int | float):
            raise BadOption(
                f"where: {key!r} is {value!r}; give a string, a number, a boolean or a list of them"
            )
    return values


def text_from_value(value: str | float) -> str:
    """A number asked of a text column is the text of the number."""
    if isinstance(value, str):
        return value
    return str(int(value) if isinstance(value, bool) else value)


_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_MAX_FACT_LENGTH = 200
"""Characters of a fact; what is longer is kept as a hash, for an index has little room."""


def integer_from_value(value: str | float) -> int | None:
    """A text asked of a number is the number that it spells; None for what no row can be."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return None
        value = float(value) if not value.strip().lstrip("+-").isdigit() else int(value)
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value) if -(2**63) <= value < 2**63 else None


def encode_facts(metadata: str) -> list[str]:
    """What the metadata (as stored, JSON) can be found by.

    >>> encode_facts('{"lang": "nl", "tags": ["x", 2], "no": null}')
    ['["lang", "nl"]', '["tags", "x"]', '["tags", 2]']
    """
    if metadata == "{}":
        return []
    found = set()
    for key, value in json.loads(metadata).items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str | int | float):
                found.add(encode_fact(key, one))
    return sorted(found)


def encode_fact(key: str, value: str | float) -> str:
    """One key with one value; numbers that are equal are one fact, as true and 1 are."""
    if not isinstance(value, str):
        value = int(value) if float(value).is_integer() and abs(value) < 2**63 else float(value)
    text = json.dumps([key, value])
    return text if len(text) <= _MAX_FACT_LENGTH else f"#{blake3(text.encode()).hexdigest()}"


def parse_filters(where: Mapping[str, Any]) -> Iterator[tuple[str, list[Any], type]]:
    """Each filter as a column, what it may be, and of which type; metadata as the column `facts`.

    Raises `BadOption`.
    """
    for key, wanted in where.items():
        values = parse_filter_values(key, wanted)
        if key in TEXT_COLUMNS:
            yield TEXT_COLUMNS[key], list(map(text_from_value, values)), str
        elif key in NUMBER_COLUMNS:
            numbers = map(integer_from_value, values)
            yield NUMBER_COLUMNS[key], [number for number in numbers if number is not None], int
        else:
            yield "facts", [encode_fact(key, value) for value in values], list


Condition: TypeAlias = tuple[str, list[Any]]
"""SQL with marks, and what to bind to them."""

T = TypeVar("T")

MAX_BOUND_VALUES = 10_000
"""SQLite binds 32,766 values to a statement where it is built as it comes."""

TEXT_COLUMNS = {
    **{name: f"d.{name}" for name in ("source", "document_id", "title")},
    "id": "c.chunk_id",
    "section": "c.section",
}
NUMBER_COLUMNS = {"page": "c.page", "row": 'c."row"', "line": "c.line", "sequence": "c.sequence"}
_COLUMNS = {**TEXT_COLUMNS, **NUMBER_COLUMNS}
_PATHS = (
    ("NOT INDEXED", "NOT INDEXED"),
    ("INDEXED BY chunks_by_filter", "INDEXED BY documents_again"),
)
"""Of the tables of chunks and documents."""

# A metadata value that is a list matches by any of its items.
_METADATA = """EXISTS (
    SELECT 1 FROM json_each(c.metadata) AS m, json_each(
        CASE m.type WHEN 'array' THEN m.value WHEN 'object' THEN '[]' ELSE json_array(m.value) END
    ) AS v WHERE m.key = ? AND v.value IN ({marks}))"""


def placeholders(values: Iterable[Any]) -> str:
    """`?,?,?`: one mark a value."""
    return ",".join("?" for _ in values)


def iter_batches(values: Sequence[T], most: int = 0) -> Iterator[Sequence[T]]:
    """So many values at a time as one statement can bind, be they pairs."""
    most = most or MAX_BOUND_VALUES
    for start in range(0, len(values), most):
        yield values[start : start + most]


def matching(where: Mapping[str, Any]) -> list[Condition]:
    """The chunks that the filter selects: a query over tables and one over indexes, to compare."""
    parts: dict[str, list[str]] = {"c": [], "d": []}
    bound: dict[str, list[Any]] = {"c": [], "d": []}
    for key, wanted in where.items():
        values = [
            value
            for value in parse_filter_values(key, wanted)
            if not isinstance(value, str) or is_encodable(value)
        ]
        column = _COLUMNS.get(key, "c.metadata")
        table = column[0]
        if not is_encodable(key):
            parts[table].append("0")
            continue
        if key in _COLUMNS:
            parts[table].append(f"{column} IN ({placeholders(values)})")
        else:
            parts[table].append(_METADATA.format(marks=placeholders(values)))
            bound[table].append(key)
        bound[table].extend(values)
    queries = []
    for chunks, documents in _PATHS:
        conditions = list(parts["c"])
        if parts["d"]:
            named = f"SELECT d.id FROM documents AS d {documents} WHERE {' AND '.join(parts['d'])}"
            conditions.append(f"c.document IN ({named})")
        query = f"SELECT c.id FROM chunks AS c {chunks} WHERE {' AND '.join(conditions) or '1'}"
        queries.append((query, [*bound["c"], *bound["d"]]))
    return queries
