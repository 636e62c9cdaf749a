"""The fields of a candidate: the one definition that every face reads by.

Mappings, JSON Lines, documents of frameworks, tables, HTTP and MCP all give records with these
names, or with those of other systems. A value that is wrong for its field is refused; one that
another system's name has is read if it has the field's form, and stays metadata if it has not.
`principals` is taken as it is, so that a misspelled list is refused and never grants access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from math import isfinite
from numbers import Real
from operator import attrgetter
from typing import Any, NamedTuple

from blake3 import blake3

from foveate.core.checks import (
    MAX_INTEGER,
    abbreviate,
    canonical_metadata,
    check_integer,
    check_metadata,
    check_string,
)
from foveate.core.errors import BadInput


def read_string(name: str, value: Any) -> str:
    """The text as it is."""
    check_string(name, value)
    return str(value)


def read_text(name: str, value: Any) -> str:
    """As `read_string`, but for a chunk's text, which is encoded, and so checked, for its hash."""
    if not isinstance(value, str):
        check_string(name, value)
    return str(value)


def read_id(name: str, value: Any) -> str:
    """Ids are numbers at times."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return read_string(name, str(value) if is_number else value)


def read_section(name: str, value: Any) -> str:
    """A path of headings, which some give as a list."""
    if isinstance(value, list | tuple):
        return " > ".join(read_string(name, part) for part in value)
    return read_string(name, value)


def read_integer(name: str, value: Any) -> int:
    """A whole number; some stores keep every number as a float, and tables have numpy's."""
    number = value
    if type(value) is not int and isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError, ValueError):  # what is infinite, or no number
            number = int(value)  # type: ignore[call-overload]  # of a finite real there is one
    check_integer(name, number if number == value else value)
    return int(number)


def read_number(name: str, value: Any) -> float:
    """A finite number, which has a place in a total order."""
    if value.__class__ is float and isfinite(value):
        return float(value)
    try:
        number = float("nan" if isinstance(value, bool) or not isinstance(value, Real) else value)
    except OverflowError:  # a whole number that no float can hold
        number = float("inf")
    if not isfinite(number):
        raise BadInput(f"must be a finite number, not {abbreviate(value)}", field=name)
    return number


def read_time(name: str, value: Any) -> datetime:
    """A time, a day as its beginning, or either in ISO 8601."""
    if isinstance(value, datetime) and value == value:  # noqa: PLR0124 (pandas' NaT is none)
        return value
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise BadInput(f"must be an ISO 8601 date and time, not {value!r}", field=name) from None


def read_principals(name: str, value: Any) -> tuple[str, ...]:
    """Sorted, each once; a single string would be read by letters."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise BadInput(f"must be a list of strings, not {value!r}", field=name)
    return tuple(sorted({read_string(name, item) for item in value}))


def read_vector(name: str, value: Any) -> Any:
    """A row of finite numbers; an array is kept, for a loop over its numbers takes long."""
    if isinstance(value, str | bytes) or not hasattr(value, "__len__") or len(value) == 0:
        raise BadInput("must be a list of numbers with at least one", field=name)
    if isinstance(value, list | tuple):
        if set(map(type, value)) == {float} and isfinite(sum(value)):
            return tuple(value)
        return tuple(read_number(name, item) for item in value)
    import numpy as np

    numbers = np.asarray(value)
    if numbers.ndim != 1 or numbers.dtype.kind in "bOSUMm":
        shape = f"{numbers.ndim} dimensions and type {numbers.dtype}"
        raise BadInput(f"must be one row of numbers, not an array of {shape}", field=name)
    if not np.isfinite(numbers.astype(np.float64)).all():
        raise BadInput("holds a number that is not finite", field=name)
    return value


ORIGINS = ("retrieved", "neighbour")  # side knowledge has a door of its own, the gate


def read_origin(name: str, value: Any) -> str:
    """Where a candidate came from."""
    if value not in ORIGINS:
        raise BadInput(f"must be one of {', '.join(ORIGINS)}, not {value!r}", field=name)
    return str(value)


class Field(NamedTuple):
    """A field's name, what reads a value of it, and what other systems call it.

    `keys`: beside the text, read if the field is missing. `within`: in the metadata; the first
    with a value of the field's form is read. `guarded`: a misspelling is refused; shorter names
    are words of their own. `distances`: keys of which less is better; one less the value is read.
    """

    name: str
    read: Callable[[str, Any], Any]
    keys: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    guarded: bool = True
    distances: tuple[str, ...] = ()


SOURCES = ("source", "source_path", "file_path", "file_name", "filename", "url", "path")
TIMES = ("modified_at", "last_modified", "last_modified_date")
_CHUNK_FIELDS = (
    Field("text", read_text, ("content", "page_content"), guarded=False),
    Field("id", read_id, guarded=False),
    Field("document_id", read_id, ("doc_id",), ("document_id", "doc_id", "source_id")),
    Field("source", read_string, ("source_path", "file_path", "file_name"), SOURCES),
    Field("title", read_string, within=("title",), guarded=False),
    Field("section", read_section, within=("section", "header_path")),
    Field("summary", read_string),
    Field("sequence", read_integer, ("chunk_index",), ("sequence", "chunk_index", "split_id")),
    Field("start", read_integer, (), ("start_index", "split_idx_start"), guarded=False),
    Field("end", read_integer, guarded=False),
    Field("byte_offset", read_integer),
    Field("page", read_integer, ("page_number",), ("page_label", "page_number", "page"), False),
    Field("row", read_integer, ("row_number",), ("row", "row_number"), False),
    Field("line", read_integer, ("start_line",), ("line", "start_line"), False),
    Field("modified_at", read_time, within=TIMES),
    Field("principals", read_principals),
    Field("embedding", read_vector),
)
INTEGER_FIELDS = tuple(field.name for field in _CHUNK_FIELDS if field.read is read_integer)
STRING_FIELDS = ("text", "id", "document_id", "source", "title", "section", "summary")
RERANKED = ("relevance_score", "_relevance_score")
"""As Cohere, Voyage, Jina, LangChain and LanceDB call a reranker's score."""
_SCORE_FIELDS = (
    Field("score", read_number, ("_score", "@search.score")),
    Field(
        "semantic_score", read_number, ("similarity", "similarity_score"), (), True, ("_distance",)
    ),
    Field("lexical_score", read_number),
    Field("rerank_score", read_number, (*RERANKED, "@search.reranker_score"), RERANKED),
)
SCORE_FIELDS = tuple(field.name for field in _SCORE_FIELDS)
SCORE_KEYS = frozenset(
    {*SCORE_FIELDS, *(k for f in _SCORE_FIELDS for k in (*f.keys, *f.distances))}
)
FIELDS: Mapping[str, Field] = {
    field.name: field
    for field in (
        *_CHUNK_FIELDS,
        *_SCORE_FIELDS,
        Field("origin", read_origin, guarded=False),
    )
}
CHUNK_FIELDS = frozenset(field.name for field in _CHUNK_FIELDS)
CANDIDATE_FIELDS = (*SCORE_FIELDS, "origin")
KNOWN = frozenset({*FIELDS, "metadata", "images"})
"""Every key of a record that is not metadata."""
_get_strings, _get_integers = attrgetter(*STRING_FIELDS), attrgetter(*INTEGER_FIELDS)


def read_fields(chunk: Any) -> None:
    """Read all fields of a new chunk, principals apart; those that are as they must be stay."""
    put = object.__setattr__
    for name, value in zip(STRING_FIELDS, _get_strings(chunk), strict=True):
        if value.__class__ is not str or not value.isascii():
            put(chunk, name, FIELDS[name].read(name, value))
    for name, value in zip(INTEGER_FIELDS, _get_integers(chunk), strict=True):
        if value is not None and (value.__class__ is not int or not 0 <= value <= MAX_INTEGER):
            put(chunk, name, read_integer(name, value))
    if chunk.start is not None and chunk.end is not None and chunk.end < chunk.start:
        raise BadInput(f"{chunk.end} is before start {chunk.start}", field="end")
    if chunk.modified_at is not None:
        put(chunk, "modified_at", read_time("modified_at", chunk.modified_at))
    if chunk.embedding is not None:
        put(chunk, "embedding", read_vector("embedding", chunk.embedding))
    if chunk.metadata:
        check_metadata(chunk.metadata)


_get_spelled = attrgetter("content_hash", *STRING_FIELDS[1:], *INTEGER_FIELDS, "principals")
_get_place = attrgetter(*STRING_FIELDS[2:], *INTEGER_FIELDS)


def complete_fields(chunk: Any) -> None:
    """Give a new chunk, whose fields were read and whose text was hashed, what it came without."""
    put = object.__setattr__
    if not chunk.id:
        put(chunk, "id", _derived_id(chunk))
    if not chunk.document_id:
        put(chunk, "document_id", chunk.source or chunk.id)
    if not chunk.source:
        put(chunk, "source", chunk.document_id)
    if chunk.modified_at is not None and chunk.modified_at.tzinfo is None:
        put(chunk, "modified_at", chunk.modified_at.replace(tzinfo=UTC))
    if chunk.principals.__class__ is not tuple or chunk.principals:
        put(chunk, "principals", read_principals("principals", chunk.principals))
    put(chunk, "_spelled", repr(_get_spelled(chunk)))


def _derived_id(chunk: Any) -> str:
    """A hash of all that tells this chunk from another; the same for the same chunk."""
    metadata = canonical_metadata(chunk.metadata)
    key = repr((*_get_place(chunk), tuple(chunk.principals), metadata, chunk.content_hash))
    return blake3(key.encode()).hexdigest(8)


def canonical_chunk(chunk: Any) -> str:
    """All that a chunk holds but metadata and vector, in one line; the text by its hash."""
    return chunk._spelled or repr(_get_spelled(chunk))  # noqa: SLF001 (kept: every manifest wants it)


TEXT_KEYS = FIELDS["text"].keys
LIKELY_TEXT_KEYS = ("body", "txt", "chunk", "chunk_text", "passage", "document")
"""What others call the text; named in errors, and not read: they may be anything."""
MAX_LISTED_KEYS = 12
"""Keys or columns; so many are named in an error."""
HEADER_KEYS = tuple(f"Header {level}" for level in range(1, 7))
"""LangChain's splitter by headers: one key a level."""
_WITHIN = frozenset({"principals", *HEADER_KEYS, *(k for f in FIELDS.values() for k in f.within)})


def _misspell(name: str) -> Iterator[str]:
    """The name with two letters exchanged, one doubled, or, if it is long enough, one left out."""
    for n, letter in enumerate(name):
        yield name[:n] + name[n + 1 : n + 2] + letter + name[n + 2 :]
        yield name[:n] + letter + name[n:]
        if n and len(name) > 5:
            yield name[:n] + name[n + 1 :]


_GUARDED = ("metadata", *(field.name for field in FIELDS.values() if field.guarded))
MISSPELLINGS = {typo: name for name in _GUARDED for typo in _misspell(name) if typo not in KNOWN}
"""Misspelled name → the right one."""


class StandardRecord(dict[str, Any]):
    """A record whose keys and metadata were read already."""


def standardise_record(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record with the fields that its other keys and its metadata name.

    A field that is given wins over all of them. Raises `BadInput` for a misspelled field.

    >>> standardise_record({"content": "A.", "page_number": 3})
    {'text': 'A.', 'page': 3}
    """
    extra = record.keys() - KNOWN
    metadata = record.get("metadata")
    if isinstance(record, StandardRecord) or not (extra or metadata):
        return record
    for key in sorted(extra & MISSPELLINGS.keys()):
        raise BadInput(f"is unknown; did you mean {MISSPELLINGS[key]!r}?", field=key)
    found = dict(record)
    for field in FIELDS.values() if extra else ():
        for key in (*field.keys, *field.distances):
            if (
                found.get(field.name) is None
                and (value := _form(field, record.get(key))) is not None
            ):
                found[field.name] = 1 - value if key in field.distances else value
                del found[key]
    if isinstance(metadata, Mapping):
        for name, value in parse_metadata(metadata, "start").items():
            if found.get(name) is None:
                found[name] = value
    return found


def parse_metadata(metadata: Mapping[Any, Any], *without: str) -> dict[str, Any]:
    """The fields that metadata speaks of, but those named in `without`.

    >>> parse_metadata({"file_path": "a.pdf", "page_label": "iv", "page": 3, "rating": 5})
    {'source': 'a.pdf', 'page': 3}
    """
    found: dict[str, Any] = {}
    if _WITHIN.isdisjoint(metadata):
        return found
    for field in FIELDS.values():
        forms = (_form(field, metadata.get(key)) for key in field.within)
        value = next((one for one in forms if one is not None), None)
        if value is not None and field.name not in without:
            found[field.name] = value
    headers = [text for key in HEADER_KEYS if (text := _form(FIELDS["title"], metadata.get(key)))]
    if headers and "section" not in found:
        found["section"] = " > ".join(headers)
    if metadata.get("principals") is not None:
        found["principals"] = metadata["principals"]
    return found


def _form(field: Field, value: Any) -> Any:
    """The value as the field's; None where it has another form, or is empty."""
    if value is None:
        return None
    if field.name == "text":
        return value if isinstance(value, str) else None
    if hasattr(value, "__fspath__"):
        value = value.__fspath__()
    if isinstance(value, str):
        if not value.strip():
            return None
        if field.read is read_integer and value.isdecimal() and value.isascii() and len(value) < 10:
            value = int(value)
        if field.read is read_section and value.startswith("/") and value.endswith("/"):
            value = [part for part in value.split("/") if part]
    with suppress(BadInput):
        read = field.read(field.name, value)
        return read if read or field.read in (read_integer, read_number) else None
    return None
