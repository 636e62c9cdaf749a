"""Arguments held to a tool's schema: the first thing that is wrong, in words; never the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

from foveate.service.mcp.failures import Refused
from foveate.service.mcp.schemas import Schema

MOST = 10_000
"""Values in the arguments of one call: far more than any schema allows, and soon looked at."""


def checked(arguments: Mapping[str, Any] | None, schema: Schema) -> Mapping[str, Any]:
    """The arguments, whole numbers as such; raises `Refused` saying where and what to give."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    given = dict(arguments or {})
    if sum(1 for _ in islice(_values(given), MOST + 1)) > MOST:
        raise Refused(f"more than {MOST:,} values; give fewer")
    error = best_match(Draft202012Validator(schema).iter_errors(given))
    if error is not None:
        raise Refused(f"{_place(error.absolute_path)}{_said(error)}")
    for place, text in _texts(given, ()):
        if not _encodable(text):
            raise Refused(f"{_place(place)}has half of a surrogate pair in it; send UTF-8 text")
    whole: Mapping[str, Any] = _whole(given)
    return whole


def _values(value: Any) -> Iterator[Any]:
    """Every value in the arguments."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        yield here
        if isinstance(here, Mapping | list):
            waiting.extend(here.values() if isinstance(here, Mapping) else here)


def _place(path: Sequence[str | int]) -> str:
    """`candidates[2].text: `."""
    said = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{said.removeprefix('.')[:200]}: " if said else ""


def _said(error: Any) -> str:
    """What is asked for; of names the nearest one."""
    rule, value = error.validator, error.validator_value
    if rule == "enum":
        near = get_close_matches(str(error.instance)[:200], value, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        return f"not one of the names that there are; {hint}known: {', '.join(map(str, value))}"
    if rule == "additionalProperties" and value is False:
        known = list(error.schema.get("properties", ()))
        unknown = ", ".join(repr(key)[:60] for key in error.instance if key not in known)
        return f"unknown: {unknown[:200]}; known: {', '.join(known)}"
    if rule == "required":
        missing = [name for name in value if name not in error.instance]
        return f"missing: {', '.join(missing)}"
    if rule in _SIZES:
        return f"must have {_SIZES[rule].format(value)}"
    return f"must be {_kind(rule, value)}"


_WHOLE = ("budget", "limit", "page", "sequence")
_SIZES = {
    "minLength": "at least {} character",
    "maxLength": "at most {} characters",
    "minItems": "at least {} item",
    "maxItems": "at most {} items",
    "maxProperties": "at most {} keys",
}


def _kind(rule: str, value: Any) -> str:
    if rule == "type":
        return " or ".join(value) if isinstance(value, list) else str(value)
    if rule == "minimum":
        return f"at least {value}"
    if rule == "maximum":
        return f"at most {value}"
    if rule == "pattern":
        return "more than white space"
    return "a string, a number, a boolean or a list of them" if rule == "anyOf" else rule


def _texts(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text in the arguments, keys included, with its place."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield path, key
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, (*path, number))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: Any) -> Any:
    """JSON knows one kind of number: 5.0 is the 5 that a schema's `integer` allows."""
    if isinstance(value, Mapping):
        return {key: int(v) if key in _WHOLE else _whole(v) for key, v in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value
