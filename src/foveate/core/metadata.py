"""Metadata as JSON: the form that is hashed and written.

A value has one spelling, the same in every process and after a round trip. Sets are sorted lists;
dates, decimals, paths and UUIDs are texts. Any other value is refused, because its text may hold an
address in memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, time, timedelta
from enum import Enum
from numbers import Number
from typing import Any

from foveate.core.errors import BadInput

_PLAIN = frozenset({str, int, float, bool, type(None)})


def check_metadata(metadata: Mapping[str, Any]) -> None:
    """Refuse a value without a form in JSON, by its key.

    >>> check_metadata({"by": object()})
    Traceback (most recent call last):
    foveate.core.errors.BadInput: field 'metadata': at 'by': a value of type object has no form ...
    """
    with suppress(RecursionError):
        if _is_plain(metadata):
            return
    for key, value in metadata.items():
        try:
            plain_metadata({key: value})
        except BadInput as error:
            message = str(error).removeprefix("field 'metadata': ")
            raise BadInput(f"at {key!r}: {message}", field="metadata") from None


def canonical_metadata(metadata: Mapping[str, Any]) -> str:
    """One line for each that is equal, whatever order its keys came in.

    >>> (
    ...     canonical_metadata({"b": 1, "a": None}),
    ...     canonical_metadata({10: 1, 9: (2,)}),
    ...     canonical_metadata({"c": {"y", "x"}}),
    ... )
    ('{"a": null, "b": 1}', '{"10": 1, "9": [2]}', '{"c": ["x", "y"]}')
    """
    line = ""
    if all(type(key) is str for key in metadata):
        # Keys within that are no texts are in no order, or in that of numbers.
        with suppress(TypeError, ValueError, RecursionError):
            line = json.dumps(dict(metadata), sort_keys=True, default=_form)
    nested = line.count("{") != 1
    return json.dumps(plain_metadata(metadata), sort_keys=True) if nested else line


def plain_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata with JSON's values and string keys; raises `BadInput` if it has no such form."""
    try:
        try:
            written = json.dumps(dict(metadata), default=_form)
        except TypeError:  # a key that JSON has no way to write
            written = json.dumps(_with_string_keys(metadata), default=_form)
    except BadInput:
        raise
    except (ValueError, RecursionError):
        raise BadInput(
            "holds itself, or is nested too deep; give plain values", field="metadata"
        ) from None
    found: dict[str, Any] = json.loads(written)
    return found


def _is_plain(value: Any) -> bool:
    """Whether it holds nothing but what JSON knows; told quickly, for every chunk is asked."""
    kind = type(value)
    if kind is dict:
        return all(type(key) is str for key in value) and all(map(_is_plain, value.values()))
    return kind in _PLAIN or (kind is list and all(map(_is_plain, value)))


def _form(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(
            (plain_metadata({"": one})[""] for one in value),
            key=lambda one: canonical_metadata({"": one}),
        )
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # of numpy: an array, or one number
        return value.tolist()
    if isinstance(value, date | time | timedelta | Number) or type(value).__module__ == "uuid":
        return str(value)
    if hasattr(type(value), "__fspath__"):
        return value.__fspath__()
    raise BadInput(
        f"a value of type {type(value).__name__} has no form in JSON; "
        "give a text, a number, a date, a list or a mapping",
        field="metadata",
    )


def _with_string_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_key(key): _with_string_keys(inner) for key, inner in value.items()}
    return [_with_string_keys(one) for one in value] if isinstance(value, list | tuple) else value


def _key(key: Any) -> Any:
    if isinstance(key, str | int | float | None):  # a bool is an int
        return key
    if isinstance(key, tuple) and all(type(part) in _PLAIN for part in key):
        return str(key)
    if isinstance(form := _form(key), str):
        return form
    raise BadInput(f"a key of type {type(key).__name__} is no text; give one", field="metadata")
