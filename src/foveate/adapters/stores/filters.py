"""What a request may see: principals and metadata filters as SQL conditions, values bound.

Rules: values are bound one by one and never pass through SQLite's JSON functions, which cut a
string at NUL ("a" + NUL + "b" would become the principal "a"); a key that is no column of a chunk
or its document is a metadata key; a list means any of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from foveate.adapters.stores.asked import encodable, wanted_values
from foveate.adapters.stores.schema import PUBLIC

Condition: TypeAlias = tuple[str, list[Any]]
"""SQL with marks, and what to bind to them."""

T = TypeVar("T")

MOST_BOUND = 10_000
"""SQLite binds 32,766 values to a statement where it is built as it comes."""

_COLUMNS = {
    "source": "d.source",
    "document_id": "d.document_id",
    "title": "d.title",
    "id": "c.chunk_id",
    "section": "c.section",
    "page": "c.page",
    "row": 'c."row"',
    "line": "c.line",
    "sequence": "c.sequence",
}

# A metadata value that is a list matches by any of its items.
_METADATA = """EXISTS (
    SELECT 1 FROM json_each(c.metadata) AS m, json_each(
        CASE m.type WHEN 'array' THEN m.value WHEN 'object' THEN '[]' ELSE json_array(m.value) END
    ) AS v WHERE m.key = ? AND v.value IN ({marks}))"""


def marks(values: Iterable[Any]) -> str:
    """`?,?,?`: one mark a value."""
    return ",".join("?" for _ in values)


def sliced(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """So many values at a time as one statement can bind, be they pairs."""
    for start in range(0, len(values), MOST_BOUND):
        yield values[start : start + MOST_BOUND]


def audiences(principals: Iterable[str]) -> Condition:
    """A query for the audiences that these principals belong to, the public one included."""
    names = sorted(name for name in set(principals) if encodable(name))
    query = (
        f"SELECT {PUBLIC} UNION SELECT audience FROM members WHERE principal IN ({marks(names)})"
    )
    return query, list(names)


def where_condition(where: Mapping[str, Any]) -> Condition:
    """All of `where`, over `chunks AS c` and `documents AS d`; raises `BadOption`."""
    parts: list[str] = []
    bound: list[Any] = []
    for key, wanted in where.items():
        values = [
            value
            for value in wanted_values(key, wanted)
            if not isinstance(value, str) or encodable(value)
        ]
        column = _COLUMNS.get(key)
        if not encodable(key):
            parts.append("0")
            continue
        if column is None:
            parts.append(_METADATA.format(marks=marks(values)))
            bound.append(key)
        else:
            parts.append(f"{column} IN ({marks(values)})")
        bound.extend(values)
    return " AND ".join(parts) or "1", bound
