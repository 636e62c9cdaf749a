"""A request's body: JSON as strict as the rest of the house.

Rules: a key that comes twice, NaN, an infinite number, half of a surrogate pair and nesting
beyond all use are refused with where they stand. How long it may be: `limits/body.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

from fastapi import Request

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput
from foveate.service.problems import problem_of

DEEPEST = 64
"""Objects and lists within one another."""
_SUSPECT = re.compile(rb"NaN|Infinity|[eE]\+?\d{3}|\d{300}|\\u[dD][89a-fA-F]")
"""What may be an unusual number or half of a pair; where none is, values need no second look."""


class StrictRequest(Request):
    """A request whose JSON is strict."""

    async def json(self) -> Any:
        """The body's value; raises a 400 problem."""
        try:
            return strict(await self.body())
        except BadInput as error:
            found = problem_of(error)
            found.kind = "bad-json"
            raise found from None


def strict(data: bytes) -> Any:
    """JSON as a value; raises `BadInput` with the place of what is wrong."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"the body is not UTF-8 at byte {error.start + 1}") from None
    value = parse_json(text)
    _refuse_odd(value, values=_SUSPECT.search(data) is not None)
    return value


def _refuse_odd(value: Any, *, values: bool) -> None:
    """Walk what holds others; single values too where some may be odd."""
    waiting: list[tuple[Any, tuple[Any, ...]]] = [(value, ())]
    while waiting:
        here, path = waiting.pop()
        if len(path) > DEEPEST:
            raise BadInput(f"nested more than {DEEPEST} deep", field=spelled(path[:4]))
        for key, one in _items(here):
            if isinstance(one, dict | list):
                waiting.append((one, (*path, key)))
            elif values:
                _refuse_value(one, (*path, key))
            if values and isinstance(key, str):
                _refuse_value(key, path)


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _refuse_value(value: Any, path: tuple[Any, ...]) -> None:
    if isinstance(value, float) and not isfinite(value):
        _refuse(f"must be a finite number, not {value!r}", path)
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            _refuse("holds a lone surrogate; decode it with errors='replace'", path)


def _refuse(message: str, path: tuple[Any, ...]) -> None:
    """A candidate is named by its number, as everywhere."""
    if len(path) > 2 and path[0] == "candidates" and isinstance(path[1], int):
        raise BadInput(message, line=path[1] + 1, field=spelled(path[2:]))
    raise BadInput(message, field=spelled(path))


def spelled(path: tuple[Any, ...]) -> str:
    """Where a value stands, `where.team`."""
    return ".".join(map(str, path))
