"""What frameworks and their loaders write into metadata, by the names that it has here.

Metadata is its owner's: what is not of the form that a field has is left where it is, and no
error. `principals` alone is taken as it stands, so that one who may not read is never let in by a
spelling that was not understood: the door refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from math import isfinite
from numbers import Real
from pathlib import PurePath
from typing import Any

from foveate.core.checks import MAX_INTEGER

SOURCE_KEYS = ("source", "file_path", "file_name", "filename", "url", "path")
FIELD_KEYS: Mapping[str, tuple[str, ...]] = {
    "source": SOURCE_KEYS,
    "document_id": ("document_id", "doc_id", "source_id"),
    "title": ("title",),
    "section": ("section", "header_path"),
    "page": ("page_label", "page_number", "page"),
    "sequence": ("sequence", "chunk_index", "split_id"),
    "row": ("row",),
    "line": ("line",),
    "start": ("start_index", "split_idx_start"),
    "modified_at": ("modified_at", "last_modified", "last_modified_date"),
}
"""Field → keys of metadata, the first that is of its form. LangChain, LlamaIndex, Haystack."""
HEADER_KEYS = tuple(f"Header {level}" for level in range(1, 7))
"""LangChain's splitter by headers: one key a level."""


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


def number_chunks(records: Iterable[dict[str, Any]]) -> None:
    """Number chunks that have none by their offsets, so that neighbours are known as such.

    Those of one document that touch or overlap follow on each other; between others a number is
    left out. It is a claim like the offsets themselves: the text decides what is joined.
    """
    documents: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        name = record.get("document_id") or record.get("source")
        if name and record.get("start") is not None and record.get("sequence") is None:
            documents.setdefault(str(name), []).append(record)
    for chunks in documents.values():
        chunks.sort(key=lambda chunk: (chunk["start"], -len(chunk["text"])))
        number, end = -1, 0
        for chunk in chunks:
            number += 1 if chunk["start"] <= end else 2
            chunk["sequence"] = number
            end = max(end, chunk["start"] + len(chunk["text"]))


def _parse_text(value: Any) -> str | None:
    if isinstance(value, PurePath):
        value = str(value)
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
    "source": _parse_text,
    "document_id": _parse_id,
    "title": _parse_text,
    "section": _parse_section,
    "modified_at": _parse_datetime,
}
"""What a value must be to be a field's; a whole number where nothing is said."""
