"""The keys of other systems and frameworks, mapped to the fields of a candidate.

A metadata value without the form of a field stays metadata. `principals` is taken as it is, so that
a misspelled list is refused and never grants access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from math import isfinite
from numbers import Real
from typing import Any

from foveate.core.checks import MAX_INTEGER
from foveate.core.errors import BadInput

TEXT_KEYS = ("content", "page_content")
LIKELY_TEXT_KEYS = ("body", "txt", "chunk", "chunk_text", "passage", "document")
"""What others call the text; named in errors, and not read: they may be anything."""
MAX_LISTED_KEYS = 12
"""Keys or columns; so many are named in an error."""
SOURCE_KEYS = ("source", "source_path", "file_path", "file_name", "filename", "url", "path")
FIELD_KEYS: Mapping[str, tuple[str, ...]] = {
    "source": SOURCE_KEYS,
    "document_id": ("document_id", "doc_id", "source_id"),
    "title": ("title",),
    "section": ("section", "header_path"),
    "page": ("page_label", "page_number", "page"),
    "sequence": ("sequence", "chunk_index", "split_id"),
    "row": ("row", "row_number"),
    "line": ("line", "start_line"),
    "start": ("start_index", "split_idx_start"),
    "modified_at": ("modified_at", "last_modified", "last_modified_date"),
}
"""Field → keys of metadata, of which the first with a value of its form is read."""
TOP_KEYS: Mapping[str, tuple[str, ...]] = {
    "text": TEXT_KEYS,
    "source": ("source_path", "file_path", "file_name"),
    "document_id": ("doc_id",),
    "page": ("page_number",),
    "sequence": ("chunk_index",),
    "row": ("row_number",),
    "line": ("start_line",),
}
"""Field → keys beside the text that are read as the field if the field itself is missing."""
CHECKED_NAMES = (
    *("score", "semantic_score", "lexical_score", "rerank_score", "source", "section", "sequence"),
    *("summary", "metadata", "principals", "embedding", "document_id", "byte_offset"),
    "modified_at",
)
"""Names whose misspellings are refused; those of shorter names are words of their own."""

HEADER_KEYS = tuple(f"Header {level}" for level in range(1, 7))
"""LangChain's splitter by headers: one key a level."""


class StandardRecord(dict[str, Any]):
    """A record whose keys and metadata were read already."""


def standardise_record(record: Mapping[str, Any], known: frozenset[str]) -> Mapping[str, Any]:
    """The record with the fields that its other keys and its metadata name.

    A field that is given wins over all of them. Raises `BadInput` for a misspelled field.

    >>> standardise_record({"content": "A.", "page_number": 3}, frozenset({"text", "page"}))
    {'text': 'A.', 'page': 3}
    """
    extra = [key for key in record if key not in known]
    if isinstance(record, StandardRecord) or not (extra or record.get("metadata")):
        return record
    for key in extra:
        if key in MISSPELLINGS:
            raise BadInput(f"is unknown; did you mean {MISSPELLINGS[key]!r}?", field=key)
    found = dict(record)
    for field, keys in TOP_KEYS.items():
        for key in keys:
            parse: Callable[[Any], Any] = FIELD_PARSERS.get(field, _parse_integer)
            if found.get(field) is None and (value := parse(record.get(key))) is not None:
                found[field] = value
                del found[key]
    if isinstance(metadata := record.get("metadata"), Mapping):
        for field, value in parse_metadata(metadata, "start").items():
            if found.get(field) is None:
                found[field] = value
    return found


def _misspell(name: str) -> Iterator[str]:
    """The name with two letters exchanged, one doubled, or, if it is long enough, one left out."""
    for n, letter in enumerate(name):
        yield name[:n] + name[n + 1 : n + 2] + letter + name[n + 2 :]
        yield name[:n] + letter + name[n:]
        if n and len(name) > 5:
            yield name[:n] + name[n + 1 :]


MISSPELLINGS = {
    typo: name for name in CHECKED_NAMES for typo in _misspell(name) if typo not in CHECKED_NAMES
}
"""Misspelled name → the right one."""


def parse_metadata(metadata: Mapping[Any, Any], *without: str) -> dict[str, Any]:
    """The fields that metadata speaks of, but those named in `without`.

    >>> parse_metadata({"file_path": "a.pdf", "page_label": "iv", "page": 3, "rating": 5})
    {'source': 'a.pdf', 'page': 3}
    """
    found: dict[str, Any] = {}
    for field, keys in FIELD_KEYS.items():
        if field in without:
            continue
        form: Callable[[Any], Any] = FIELD_PARSERS.get(field, _parse_integer)
        value = next((v for key in keys if (v := form(metadata.get(key))) is not None), None)
        if value is not None:
            found[field] = value
    headers = [text for key in HEADER_KEYS if (text := _parse_text(metadata.get(key)))]
    if headers and "section" not in found:
        found["section"] = " > ".join(headers)
    if metadata.get("principals") is not None:
        found["principals"] = metadata["principals"]
    return found


def _parse_text(value: Any) -> str | None:
    if hasattr(value, "__fspath__"):
        value = value.__fspath__()
    return value if isinstance(value, str) and value.strip() else None


def _parse_id(value: Any) -> str | None:
    """Ids are numbers at times."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _parse_text(value)


def _parse_section(value: Any) -> str | None:
    """A path of headings, which some give as a list, some with slashes around it."""
    if isinstance(value, list | tuple):
        return " > ".join(part for part in value if _parse_text(part)) or None
    text = _parse_text(value)
    if text and text.startswith("/") and text.endswith("/"):
        return " > ".join(part for part in text.split("/") if part) or None
    return text


def _parse_integer(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal() and value.isascii() and len(value) < 10:
        return int(value)
    # Some stores keep every number as a float, and tables have numbers of numpy's.
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        return None
    number = int(value)  # type: ignore[call-overload]  # of a finite real there is one
    return number if number == value and 0 <= number <= MAX_INTEGER else None


def _parse_datetime(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value if value == value else None  # noqa: PLR0124 (pandas' NaT is a time, and none)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


FIELD_PARSERS: Mapping[str, Callable[[Any], Any]] = {
    "text": lambda value: value if isinstance(value, str) else None,
    "source": _parse_text,
    "document_id": _parse_id,
    "title": _parse_text,
    "section": _parse_section,
    "modified_at": _parse_datetime,
}
"""What a value must be to be a field's; a whole number where nothing is said."""
