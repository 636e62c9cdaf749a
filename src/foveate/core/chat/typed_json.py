"""Values read from JSON, held against the types of their fields, however deep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from foveate.core.checks import check_integer, check_text
from foveate.core.errors import BadInput
from foveate.core.types import Chunk


def check_types(name: str, value: Any, kind: Any) -> None:
    """Raise `BadInput` naming the field that is not of its type; whole numbers count something."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is str:
        check_text(name, value)
    elif kind is int:
        check_integer(name, value)
    elif kind in (bool, float):
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise _type_error(name, kind.__name__, value)
    elif is_dataclass(kind):
        _check_fields(name, value, kind)
    else:
        _check_composite(name, value, origin, parts)


def _check_composite(name: str, value: Any, origin: Any, parts: Sequence[Any]) -> None:
    """Of a type that is made of others."""
    if origin is tuple:
        _check_tuple(name, value, parts)
    elif origin in (Union, UnionType):
        if not (value is None and NoneType in parts):
            (other,) = (part for part in parts if part is not NoneType)
            check_types(name, value, other)
    elif origin is Literal:
        if not any(value is part or (type(value) is str and value == part) for part in parts):
            raise BadInput(f"must be one of {parts}, not {value!r}", field=name)
    else:
        raise TypeError(f"no rule for the type of {name}")


def _check_tuple(name: str, value: Any, parts: Sequence[Any]) -> None:
    if not isinstance(value, tuple):
        raise _type_error(name, "list", value)
    several = len(parts) == 2 and parts[1] is ...
    kinds = [parts[0]] * len(value) if several else list(parts)
    if len(kinds) != len(value):
        raise _type_error(name, f"list of {len(kinds)}", value)
    for n, (entry, kind) in enumerate(zip(value, kinds, strict=True)):
        check_types(f"{name}[{n}]", entry, kind)


def _check_fields(name: str, value: Any, kind: Any) -> None:
    if not isinstance(value, kind):
        raise _type_error(name, kind.__name__, value)
    if kind is Chunk:
        return  # it has looked at its own fields
    for field, known in _field_types(kind):
        check_types(f"{name}.{field}" if name else field, getattr(value, field), known)


@cache
def _field_types(kind: Any) -> list[tuple[str, Any]]:
    """The fields of a value and their types."""
    hints = get_type_hints(kind)
    return [(field.name, hints[field.name]) for field in fields(kind)]


def _type_error(name: str, kind: str, value: Any) -> BadInput:
    return BadInput(f"must be a {kind}, not {type(value).__name__}", field=name)
