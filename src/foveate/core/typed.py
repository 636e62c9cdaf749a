"""Values checked and read by their annotations: the one place for wrong types.

`check_arguments` wraps a function and `check_fields` is called where a value of options is made;
what is left at its default is not looked at. `read_value` and `read_record` read JSON. What an
annotation cannot say, such as a range, is checked where it matters.

JSON is read as dataclasses of these: tuples (of lists), mappings, literals, unions with None,
strings, numbers, `Any`, and `Annotated[type, check]`, where `check(value)` raises `BadInput`. Keys
that a dataclass does not name are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, signature
from math import inf
from numbers import Integral, Real
from types import FunctionType, MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)
from typing import is_typeddict as is_typed_dict

from foveate.core.checks import check_integer, check_string
from foveate.core.errors import BadInput, BadOption, UnknownName
from foveate.core.removed import advice

P = ParamSpec("P")
T = TypeVar("T")

_NAMES = {int: "a whole number", float: "a number", str: "a string", bool: "True or False"}
_PLAIN = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, type(None), type)
"""What is no port: a model, a store, a tokenizer."""
_LONGEST = 60
"""Characters of a wrong name that is shown."""


def check_arguments(*apart: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A decorator: before the function runs, an argument of a wrong type raises `BadOption`.

    `apart`: arguments that the function checks itself, with more to say.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            hints, order = _parameters(function)
            for name in kwargs:
                if name not in order and (removed := advice("keyword", name)):
                    raise BadOption(removed)
            for name, value in (*zip(order, args, strict=False), *kwargs.items()):
                if name in hints and name not in apart:
                    _check(name, value, *hints[name])
            return function(*args, **kwargs)

        return checked

    return decorate


def check_fields(value: Any) -> None:
    """Raise `BadOption` for a field of a dataclass that has a value of a wrong type."""
    for one in typed_fields(type(value)):  # type: ignore[arg-type]
        if not one.name.startswith("_"):
            _check(one.name, getattr(value, one.name), one.hint, one.default)


def is_of_type(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says; of a protocol, whether it has any of it."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return is_of_type(value, args[0])
    if origin in (Union, UnionType):
        return any(is_of_type(value, arg) for arg in args)
    if origin is Literal:
        return any(type(value) is type(arg) and value == arg for arg in args)
    if Callable in (origin, hint):
        return callable(value)
    if isinstance(origin, type):
        return _is_collection(value, origin, args)
    if hint is Any or not isinstance(hint, type):
        return True
    return _is_instance(value, hint)


def _is_instance(value: Any, hint: type) -> bool:
    if hint in (int, float):
        kind = Integral if hint is int else Real
        return isinstance(value, kind) and not isinstance(value, bool)
    if is_typed_dict(hint):
        return isinstance(value, Mapping)
    if getattr(hint, "_is_protocol", False):
        return _may_be_port(value, hint)
    if issubclass(hint, _Unloaded):
        return any(one.__name__ == hint.__name__ for one in type(value).__mro__)
    return isinstance(value, hint)


def describe_type(hint: Any) -> str:
    """What an annotation allows, in words.

    >>> describe_type(int | None), describe_type(tuple[str, ...]), describe_type(Literal["a", "b"])
    ('a whole number or None', 'a list of strings', "one of 'a', 'b'")
    """
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(map(describe_type, args)))
    if origin is Literal:
        return f"one of {', '.join(map(repr, args))}"
    if origin is Callable or hint is Callable:
        return "a function"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "a mapping"
    if isinstance(origin, type):
        kinds = {str: "strings", int: "whole numbers", float: "numbers"}
        inner = kinds.get(args[0], getattr(args[0], "__name__", "")) if args else ""
        return f"a list of {inner}" if inner and inner[0] != "_" else "a list"
    if is_typed_dict(hint):
        return "a mapping"
    if hint is NoneType:
        return "None"
    if hint in _NAMES:
        return _NAMES[hint]
    name = str(getattr(hint, "__name__", hint))
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _check(name: str, value: Any, hint: Any, default: Any) -> None:
    if value is default or is_of_type(value, hint):
        return
    named = isinstance(value, str) and len(value) <= _LONGEST and _has_names(hint)
    raise BadOption(
        f"{name} must be {describe_type(hint)}, not {repr(value) if named else show_value(value)}"
    )


def show_value(value: Any) -> str:
    """A wrong value as an error may show it: a number, else its type, as the rest may be secret.

    >>> show_value(5), show_value(None), show_value({"api_key": "sk-1"}), show_value(dict)
    ('5', 'None', 'dict', 'the class dict')
    """
    if isinstance(value, Real | NoneType):
        return repr(value)
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _has_names(hint: Any) -> bool:
    """Whether an annotation is a closed list of names, which is no place for a secret."""
    return get_origin(hint) is Literal or any(map(_has_names, get_args(hint)))


def _is_collection(value: Any, origin: type, args: tuple[Any, ...]) -> bool:
    """A list may be given as any collection but a text or a mapping; the owner makes its own."""
    is_mapping = issubclass(origin, Mapping)
    kind = Collection if origin in (tuple, Sequence) else origin  # an array is no Sequence
    if isinstance(value, str | bytes) or not isinstance(value, kind):
        return False
    if isinstance(value, Mapping) is not is_mapping:
        return False
    inner = args[0] if args else Any
    kinds = get_args(inner) if isinstance(inner, UnionType) else (inner,)
    if inner is Any or not all(isinstance(one, type) for one in kinds):
        return True
    items = value if isinstance(value, list | tuple | set | frozenset | Mapping) else ()
    return all(is_of_type(item, inner) for item in items)


def _may_be_port(value: Any, protocol: type) -> bool:
    """Whether it has one of the protocol's methods, or makes its attributes up."""
    if isinstance(value, _PLAIN):
        return False
    bases = [vars(base) for base in protocol.__mro__ if getattr(base, "_is_protocol", False)]
    methods = [
        name
        for base in bases
        for name, what in base.items()
        if isinstance(what, FunctionType) and (name[0] != "_" or name == "__call__")
    ]
    if isinstance(value, FunctionType):
        return "__call__" in methods
    own = getattr(value, "__dict__", {})
    return hasattr(type(value), "__getattr__") or any(
        hasattr(type(value), one) or one in own for one in methods
    )


class _Unloaded:
    """A class that is imported by type checkers alone; known by its name."""


def _hints(owner: Any) -> dict[str, Any]:
    missing: dict[str, Any] = {}
    while True:
        try:
            return get_type_hints(owner, localns=missing, include_extras=True)
        except NameError as error:
            name = str(error.name)
            missing[name] = type(name, (_Unloaded,), {})


@cache
def _parameters(function: Callable[..., Any]) -> tuple[dict[str, tuple[Any, Any]], list[str]]:
    """Each parameter's annotation and default, and the order of those that may go by place."""
    hints = _hints(function)
    named = {
        name: one
        for name, one in signature(function).parameters.items()
        if one.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    }
    known = {name: (hints[name], one.default) for name, one in named.items() if name in hints}
    return known, list(named)


class TypedField(NamedTuple):
    """A field that a dataclass is made with; `default` is `MISSING` where it must be given."""

    name: str
    key: str
    """Of the field in JSON: its `metadata["key"]`, else its name."""
    hint: Any
    default: Any


@cache
def typed_fields(cls: Any) -> tuple[TypedField, ...]:
    """The fields of a dataclass, in order."""
    hints = _hints(cls)
    return tuple(
        TypedField(
            one.name,
            one.metadata.get("key", one.name),
            hints[one.name],
            one.default if one.default_factory is MISSING else one.default_factory(),
        )
        for one in fields(cls)
        if one.init
    )


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
    if isinstance(value, Mapping):
        refuse_unknown(what, value, [one.key for one in typed_fields(kind)])
    return read_value(kind, value)


def refuse_unknown(what: str, given: Mapping[Any, Any], known: Collection[str]) -> None:
    """Raise `UnknownName` for the first key that is none of the known ones."""
    for name in given:
        if name not in known:
            raise UnknownName(what, str(name), known)


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
    for name, key, hint, default in typed_fields(kind):
        inner = f"{place}.{key}" if place else key
        if key in value:
            found[name] = read_value(hint, value[key], inner, readers)
        elif default is MISSING:
            raise BadInput("is missing", field=inner)
    return kind(**found)


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
