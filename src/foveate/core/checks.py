"""What the central values refuse (wrong fields, scores, zones), and a chunk's identity."""

from __future__ import annotations

from math import isfinite
from numbers import Real
from operator import attrgetter
from typing import Any

from blake3 import blake3

from foveate.core.errors import BadInput, BadOption
from foveate.core.metadata import canonical_metadata, check_metadata

STRING_FIELDS = ("text", "id", "document_id", "source", "title", "section", "summary")
INTEGER_FIELDS = ("sequence", "start", "end", "byte_offset", "page", "row", "line")
MAX_INTEGER = 2**63 - 1
_get_strings, _get_integers = attrgetter(*STRING_FIELDS), attrgetter(*INTEGER_FIELDS)
hashed_fields = attrgetter("content_hash", *STRING_FIELDS[1:], *INTEGER_FIELDS, "principals")


def check_text(name: str, value: object) -> None:
    """As `check_string`, but for a chunk's text, which is encoded, and so checked, for its hash."""
    if name != "text" or not isinstance(value, str):
        check_string(name, value)


def check_string(name: str, value: object) -> None:
    """Refuse what is no string, and what UTF-8 cannot hold; `name` may be empty."""
    if not isinstance(value, str):
        what = "null" if value is None else type(value).__name__
        raise BadInput(f"must be a string, not {what}", field=name or None)
    if not is_encodable(value):
        message = "holds a lone surrogate; decode it with errors='replace'"
        raise BadInput(message, field=name or None)


def is_encodable(text: str) -> bool:
    """Whether UTF-8 can hold it: all but a lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_integer(name: str, value: object) -> None:
    """Refuse what counts nothing."""
    if type(value) is not int or value < 0:
        raise BadInput(f"must be a whole number of 0 or more, not {value!r}", field=name)
    if value > MAX_INTEGER:
        raise BadInput("takes more than 64 bits, which no store and no table holds", field=name)


def check_chunk_fields(chunk: Any) -> None:
    """Refuse fields of the wrong kind; a plain ASCII string and None need no second look."""
    for name, value in zip(STRING_FIELDS, _get_strings(chunk), strict=True):
        if value.__class__ is not str or not value.isascii():
            check_text(name, value)
    for name, value in zip(INTEGER_FIELDS, _get_integers(chunk), strict=True):
        if value is not None:
            check_integer(name, value)
    if chunk.metadata:
        check_metadata(chunk.metadata)
    if chunk.start is not None and chunk.end is not None and chunk.end < chunk.start:
        raise BadInput(f"{chunk.end} is before start {chunk.start}", field="end")
    if isinstance(chunk.principals, str):
        raise BadInput(f"must be a list, not {chunk.principals!r}", field="principals")


def derived_id(chunk: Any) -> str:
    """A hash of all that tells this chunk from another; the same for the same chunk."""
    parts = [getattr(chunk, name) for name in (*STRING_FIELDS[2:], *INTEGER_FIELDS)]
    metadata = canonical_metadata(chunk.metadata)
    key = repr((*parts, tuple(chunk.principals), metadata, chunk.content_hash))
    return blake3(key.encode()).hexdigest(8)


OPTIONAL_SCORES = ("semantic_score", "lexical_score", "rerank_score")


def check_score(name: str, value: Any) -> int | float:
    """The score as a plain number; refuses one that has no place in a total order."""
    if type(value) is float and isfinite(value):
        return value
    if isinstance(value, bool) or not isinstance(value, Real) or not _finite(value):
        raise BadInput(f"must be a finite number, not {_shown(value)}", field=name)
    return value if isinstance(value, int) else float(value)


def _finite(value: Real) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _shown(value: Any) -> str:
    """Python refuses to write whole numbers of thousands of digits."""
    try:
        return repr(value)[:80]
    except ValueError:
        return "a whole number of thousands of digits"


def check_zone(name: str, value: object, least: int) -> None:
    """Refuse a number of tokens that cannot be spent."""
    if type(value) is not int:
        raise BadOption(f"budget: {name} is {value!r}; it must be a whole number of tokens")
    if value < least:
        raise BadOption(f"budget: {name} is {value}; it must be {least} or more")
