"""Search filters as facts: what a chunk is found by beside its words.

A fact is a key with one of its values, as JSON: of the fields below, and of metadata each scalar
value and each item of a list. Facts stand in the inverted index as terms do (no term begins as
JSON), so a filter is read, and held to its checksums, as words are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, TypeVar

from blake3 import blake3

from foveate.core.errors import BadInput, BadOption

_TEXTS = ("source", "document_id", "title", "id", "section")
_NUMBERS = ("page", "row", "line", "sequence")
_FIELDS = frozenset((*_TEXTS, *_NUMBERS))
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_MAX_FACT_LENGTH = 200
"""Characters of a fact; what is longer is kept as a hash, for an index has little room."""


def facts_to_index(document: Mapping[str, Any], chunk: Mapping[str, Any]) -> list[str]:
    """The facts of a chunk, of the rows of its document and its own.

    >>> document = {"source": "a.md", "document_id": "a", "title": ""}
    >>> chunk = {
    ...     "chunk_id": "a#0",
    ...     "section": "",
    ...     "page": 2,
    ...     "row": None,
    ...     "line": None,
    ...     "sequence": 0,
    ...     "metadata": '{"tags": ["x", 2], "no": null}',
    ... }
    >>> facts_to_index(document, chunk)[-3:]
    ['["tags", "x"]', '["tags", 2]', '["title", ""]']
    """
    row = {**document, **chunk, "id": chunk["chunk_id"]}
    found = {encode_fact(key, row[key]) for key in _FIELDS if row[key] is not None}
    metadata = chunk["metadata"]
    for key, value in json.loads(metadata).items() if metadata != "{}" else ():
        for one in value if isinstance(value, list) else [value]:
            if key not in _FIELDS and isinstance(one, str | int | float):
                found.add(encode_fact(key, one))
    return sorted(found)


def encode_fact(key: str, value: str | float) -> str:
    """One key with one value; numbers that are equal are one fact, as true and 1 are."""
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    text = f"[{quoted(key)}, {quoted(value) if isinstance(value, str) else json.dumps(value)}]"
    return text if len(text) <= _MAX_FACT_LENGTH else f"[#{blake3(text.encode()).hexdigest()}"


def parse_filters(where: Mapping[str, Any] | None) -> list[list[str]]:
    """For each filter the facts of which a chunk must have one; raises `BadOption`, `BadInput`."""
    return [[*_facts_of_filter(key, wanted)] for key, wanted in (where or {}).items()]


def _facts_of_filter(key: str, wanted: Any) -> Iterator[str]:
    many = isinstance(wanted, list | tuple | set | frozenset)
    for value in wanted if many else [wanted]:
        if not isinstance(value, str | int | float):
            raise BadOption(
                f"where: {key!r} is {value!r}; give a string, a number, a boolean or a list of them"
            )
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise BadInput("a number is too large for the store")
        as_column = _as_text(value) if key in _TEXTS else _as_integer(value)
        asked = as_column if key in _FIELDS else value
        if asked is not None:
            yield encode_fact(key, asked)


def _as_text(value: str | float) -> str:
    """A number asked of a text field is the text of the number."""
    if isinstance(value, str):
        return value
    return str(int(value) if isinstance(value, bool) else value)


def _as_integer(value: str | float) -> int | None:
    """A text asked of a number is the number that it spells; None for what no row can be."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return None
        value = float(value) if not value.strip().lstrip("+-").isdigit() else int(value)
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value)


T = TypeVar("T")
MAX_BOUND_VALUES = 10_000
"""SQLite binds 32,766 values to a statement where it is built as it comes."""


def iter_batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """So many values at a time as one statement can bind, be they pairs."""
    for start in range(0, len(values), MAX_BOUND_VALUES):
        yield values[start : start + MAX_BOUND_VALUES]
