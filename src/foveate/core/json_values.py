"""JSON values read as typed values; what is wrong is refused by its place.

Types: dataclasses of these, tuples (of lists), mappings, literals, unions with None, strings,
numbers, `Any`, and `Annotated[type, check]`, where `check(value)` raises `BadInput`. Keys that a
dataclass does not name are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import inf
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from foveate.core.checks import check_integer, check_string
from foveate.core.errors import BadInput, UnknownName

Readers = Mapping[Any, Callable[[Any], Any]]
"""Type → how it is read, where that is not by its fields."""
_NO_READERS: Readers = MappingProxyType({})


def read_value(kind: Any, value: Any, place: str = "", readers: Readers = _NO_READERS) -> Any:
    """The value of this type; raises `BadInput` with the place of what is wrong.

    >>> read_value(tuple[int, ...], [1, 2])
    (1, 2)
    """
    if (scalar := _SCALARS.get(kind)) is not None:
        scalar(value, place)
        return value
    if kind in readers:
        return _in_place(readers[kind], value, place)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        found = read_value(parts[0], value, place, readers)
        _in_place(parts[1], found, place)
        return found
    if origin in (Union, UnionType):
        return _read_union(parts, value, place, readers)
    if is_dataclass(kind):
        return _read_dataclass(kind, value, place, readers)
    if origin is tuple:
        return _read_tuple(parts, value, place, readers)
    if origin is Literal:
        _require(any(value is p or value == p for p in parts), f"one of {parts}", value, place)
        return value
    _require(isinstance(value, Mapping), "an object", value, place)
    return {k: read_value(parts[1], v, f"{place}.{k}", readers) for k, v in value.items()}


def read_record(kind: Any, value: Any, what: str = "key") -> Any:
    """`read_value` of a dataclass that refuses other keys by `UnknownName`; `what` a key is."""
    known = [key for _, key, *_ in _dataclass_fields(kind)]
    for name in value if isinstance(value, Mapping) else ():
        if name not in known:
            raise UnknownName(what, str(name), known)
    return read_value(kind, value)


def check_not_blank(text: str) -> None:
    """Refuse a text without a character that shows."""
    if not text.strip():
        raise BadInput("is blank")


NonBlank = Annotated[str, check_not_blank]


def type_name(value: Any) -> str:
    """What a JSON value is, in words."""
    return "null" if value is None else type(value).__name__


def _read_union(parts: tuple[Any, ...], value: Any, place: str, readers: Readers) -> Any:
    if value is None and NoneType in parts:
        return None
    *others, last = (kind for kind in parts if kind is not NoneType)
    for kind in others:
        with suppress(BadInput):
            return read_value(kind, value, place, readers)
    return read_value(last, value, place, readers)


def _read_dataclass(kind: Any, value: Any, place: str, readers: Readers) -> Any:
    _require(isinstance(value, Mapping), "an object", value, place)
    found = {}
    for name, key, hint, required in _dataclass_fields(kind):
        inner = f"{place}.{key}" if place else key
        if key in value:
            found[name] = read_value(hint, value[key], inner, readers)
        elif required:
            raise BadInput("is missing", field=inner)
    return kind(**found)


@cache
def _dataclass_fields(kind: Any) -> tuple[tuple[str, str, Any, bool], ...]:
    """Name, key (`metadata["key"]`, else the name), type, and whether it must be there."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        (
            one.name,
            one.metadata.get("key", one.name),
            hints[one.name],
            one.default is MISSING and one.default_factory is MISSING,
        )
        for one in fields(kind)
        if one.init
    )


def _read_tuple(parts: tuple[Any, ...], value: Any, place: str, readers: Readers) -> Any:
    several = parts[-1] is Ellipsis
    wanted = "a list" if several else f"a list of {len(parts)}"
    _require(isinstance(value, list | tuple), wanted, value, place)
    kinds = (parts[0],) * len(value) if several else parts
    _require(len(kinds) == len(value), wanted, value, place)
    return tuple(
        read_value(kind, item, f"{place}[{number}]", readers)
        for number, (kind, item) in enumerate(zip(kinds, value, strict=True))
    )


def _in_place(work: Callable[[Any], Any], value: Any, place: str) -> Any:
    try:
        return work(value)
    except BadInput as error:
        raise BadInput(str(error), field=place or None) from None


def _require(right: object, wanted: str, value: object, place: str) -> None:
    if not right:
        raise BadInput(f"must be {wanted}, not {type_name(value)}", field=place or None)


def _check_integer(value: Any, place: str) -> None:
    _require(type(value) is int, "a whole number", value, place)
    check_integer(place, value)


def _check_number(value: Any, place: str) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    _require(is_number and -inf < value < inf, "a finite number", value, place)


def _check_boolean(value: Any, place: str) -> None:
    _require(isinstance(value, bool), "true or false", value, place)


_SCALARS: Mapping[Any, Callable[[Any, str], None]] = {
    str: lambda value, place: check_string(place, value),
    int: _check_integer,
    float: _check_number,
    bool: _check_boolean,
    Any: lambda _value, _place: None,
}
