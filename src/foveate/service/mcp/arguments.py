"""Arguments held to a tool's schema: the first thing that is wrong, in words; never the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

from foveate.service.mcp.failures import ToolCallError
from foveate.service.mcp.schemas import Schema

MAX_VALUES = 10_000
"""Values in the arguments of one call: far more than any schema allows, and soon looked at."""


def check_arguments(arguments: Mapping[str, Any] | None, schema: Schema) -> Mapping[str, Any]:
    """The arguments, whole numbers as such.

    Raises `ToolCallError` saying where and what to give.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    given = dict(arguments or {})
    if sum(1 for _ in islice(_iter_values(given), MAX_VALUES + 1)) > MAX_VALUES:
        raise ToolCallError(f"more than {MAX_VALUES:,} values; give fewer")
    error = best_match(Draft202012Validator(schema).iter_errors(given))
    if error is not None:
        raise ToolCallError(f"{_format_path(error.absolute_path)}{_error_message(error)}")
    for place, text in _iter_texts(given, ()):
        if not _is_encodable(text):
            raise ToolCallError(
                f"{_format_path(place)}has half of a surrogate pair in it; send UTF-8 text"
            )
    whole: Mapping[str, Any] = _convert_integers(given, schema)
    return whole


def _iter_values(value: Any) -> Iterator[Any]:
    """Every value in the arguments."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        yield here
        if isinstance(here, Mapping | list):
            waiting.extend(here.values() if isinstance(here, Mapping) else here)


def _format_path(path: Sequence[str | int]) -> str:
    """`candidates[2].text: `."""
    said = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{said.removeprefix('.')[:200]}: " if said else ""


def _error_message(error: Any) -> str:
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
    if rule in _SIZE_MESSAGES:
        return f"must have {_SIZE_MESSAGES[rule].format(value)}"
    return f"must be {_expectation(rule, value)}"


_SIZE_MESSAGES = {
    "minLength": "at least {} character",
    "maxLength": "at most {} characters",
    "minItems": "at least {} item",
    "maxItems": "at most {} items",
    "maxProperties": "at most {} keys",
}


def _expectation(rule: str, value: Any) -> str:
    if rule == "type":
        return " or ".join(value) if isinstance(value, list) else str(value)
    if rule == "minimum":
        return f"at least {value}"
    if rule == "maximum":
        return f"at most {value}"
    if rule == "pattern":
        return "more than white space"
    return "a string, a number, a boolean or a list of them" if rule == "anyOf" else rule


def _iter_texts(
    value: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text in the arguments, keys included, with its place."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield path, key
            yield from _iter_texts(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _iter_texts(inner, (*path, number))


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _convert_integers(value: Any, schema: Schema) -> Any:
    """JSON knows one kind of number: 5.0 is 5 where the schema asks for an `integer`.

    Only properties that the schema names are followed. The keys of a filter are the document's,
    so its values stay as they were sent.
    """
    if schema.get("type") == "integer":
        return int(value)
    if isinstance(value, Mapping):
        named = schema.get("properties", {})
        return {
            key: _convert_integers(v, named[key]) if key in named else v for key, v in value.items()
        }
    if isinstance(value, list):
        return [_convert_integers(inner, schema.get("items", {})) for inner in value]
    return value
