"""Reads typed values out of parsed JSON; errors name the field.

`where` is the path of the record in the line (`chunks[3]`), empty at the top.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.types import Span


def field_path(name: str, where: str) -> str:
    """The field as one finds it.

    >>> field_path("text", "chunks[3]"), field_path("id", "")
    ('chunks[3].text', 'id')
    """
    return f"{where}.{name}" if where else name


def type_name(value: Any) -> str:
    """What it is, in words."""
    return "null" if value is None else type(value).__name__


def check_object(value: Any, where: str, what: str = "must be an object") -> Mapping[str, Any]:
    """An object."""
    if not isinstance(value, Mapping):
        raise BadInput(f"{what}, not {type_name(value)}", field=where or None)
    return value


def get_required(record: Mapping[str, Any], name: str, where: str = "") -> Any:
    """What stands under the name."""
    if name not in record:
        raise BadInput("is missing", field=field_path(name, where))
    return record[name]


def get_text(
    record: Mapping[str, Any], name: str, where: str = "", default: str | None = None
) -> str:
    """A string; with a default it may be missing or null."""
    value = record.get(name) if default is not None else get_required(record, name, where)
    if value is None and default is not None:
        return default
    return check_string(value, field_path(name, where))


def check_string(value: Any, field: str) -> str:
    """A string that UTF-8 can hold."""
    if not isinstance(value, str):
        raise BadInput(f"must be a string, not {type_name(value)}", field=field)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadInput("holds a lone surrogate; write it as UTF-8", field=field) from None
    return value


def get_nonblank_text(record: Mapping[str, Any], name: str, where: str = "") -> str:
    """A string with something in it."""
    value = get_text(record, name, where)
    if not value.strip():
        raise BadInput("is blank", field=field_path(name, where))
    return value


def get_list(
    record: Mapping[str, Any], name: str, where: str = "", *, optional: bool = False
) -> list[Any]:
    """A list; an optional one may be missing."""
    value = record.get(name, []) if optional else get_required(record, name, where)
    if not isinstance(value, list):
        raise BadInput(f"must be a list, not {type_name(value)}", field=field_path(name, where))
    return value


def get_texts(
    record: Mapping[str, Any], name: str, where: str = "", *, optional: bool = False
) -> tuple[str, ...]:
    """A list of strings."""
    items = get_list(record, name, where, optional=optional)
    return tuple(
        check_string(item, f"{field_path(name, where)}[{i}]") for i, item in enumerate(items)
    )


def get_number(record: Mapping[str, Any], name: str, where: str = "") -> float:
    """A finite number."""
    value = get_required(record, name, where)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise BadInput(f"must be a finite number, not {value!r}", field=field_path(name, where))
    return float(value)


def get_integer(record: Mapping[str, Any], name: str, where: str = "") -> int | None:
    """A whole number of 0 or more; None if it is missing or null."""
    value = record.get(name)
    if value is not None and (type(value) is not int or value < 0):
        message = f"must be a whole number of 0 or more, not {value!r}"
        raise BadInput(message, field=field_path(name, where))
    return value


def get_boolean(
    record: Mapping[str, Any], name: str, where: str = "", *, default: bool = False
) -> bool:
    """True or false."""
    value = record.get(name, default)
    if not isinstance(value, bool):
        raise BadInput(f"must be true or false, not {value!r}", field=field_path(name, where))
    return value


def get_spans(record: Mapping[str, Any], name: str, where: str, length: int) -> tuple[Span, ...]:
    """Pairs of offsets within a text of that length."""
    found = []
    for i, item in enumerate(get_list(record, name, where, optional=True)):
        pair = isinstance(item, list) and len(item) == 2 and all(type(n) is int for n in item)
        if not pair or not 0 <= item[0] <= item[1] <= length:
            message = f"must be [start, end] within the text of {length} characters, not {item!r}"
            raise BadInput(message, field=f"{field_path(name, where)}[{i}]")
        found.append((item[0], item[1]))
    return tuple(found)
