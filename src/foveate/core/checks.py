"""What values must be: strings, whole numbers, names of a closed list, and metadata.

Metadata has one spelling as JSON, the same in every process and after a round trip, which is hashed
and written. Sets are sorted lists; dates, decimals, paths and UUIDs are texts. Any other value is
refused, because its text may hold an address in memory.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import date, time, timedelta
from enum import Enum
from numbers import Number
from typing import Any

from foveate.core.errors import BadInput, BadOption
from foveate.core.removed import advice_on_value

MAX_INTEGER = 2**63 - 1


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


def check_query(query: str) -> str:
    """The query; raises `BadInput` if it is empty, no string or no UTF-8."""
    if not isinstance(query, str):
        message = f"must be the question as a string, not {type(query).__name__}"
        raise BadInput(f"{message}; the candidates come after it", field="query")
    if not query.strip():
        raise BadInput("the query is empty; ask something", field="query")
    check_string("query", query)
    return query


def check_integer(name: str, value: object) -> None:
    """Refuse what counts nothing."""
    if type(value) is not int or value < 0:
        raise BadInput(f"must be a whole number of 0 or more, not {abbreviate(value)}", field=name)
    if value > MAX_INTEGER:
        raise BadInput("takes more than 64 bits, which no store and no table holds", field=name)


def check_principals(principals: Iterable[str]) -> tuple[str, ...]:
    """The principals; raises `BadInput` for a single string, which would be read by letters."""
    if isinstance(principals, str) or not isinstance(principals, Iterable):
        raise BadInput(f"must be a list of strings, not {principals!r}", field="principals")
    return tuple(principals)


def abbreviate(value: Any) -> str:
    """The value for a message; Python refuses to write whole numbers of thousands of digits."""
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


def check_choice(owner: str, option: str, value: object, allowed: Collection[object]) -> None:
    """Refuse a value that is none of a closed list, one that was removed with what to use."""
    if value not in allowed:
        names = ", ".join(map(str, allowed))
        message = f"{owner}: {option} is {value!r}; it must be one of {names}"
        raise BadOption(advice_on_value(option, value) or message)


_PLAIN = frozenset({str, int, float, bool, type(None)})


def check_metadata(metadata: Mapping[str, Any]) -> None:
    """Refuse a value without a form in JSON, by its key.

    >>> check_metadata({"by": object()})
    Traceback (most recent call last):
    foveate.core.errors.BadInput: field 'metadata': at 'by': a value of type object has no form ...
    """
    with suppress(BadInput):
        plain_metadata(metadata)
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
