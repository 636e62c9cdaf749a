"""A request's body: JSON as strict as the rest of the house.

Rules: a key that comes twice, NaN, an infinite number, half of a surrogate pair and nesting
beyond all use are refused with where they stand. How long it may be: `limits/body.py`.
"""

from __future__ import annotations

import asyncio
import re
from math import inf, isfinite
from typing import Any

from fastapi import Request

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput
from foveate.service.problems import ProblemError, problem_of

LARGE = 200_000
"""Bytes beyond which a body is read on a thread, so that others are served meanwhile."""
DEEPEST = 64
"""Objects and lists within one another."""
_ODD = (b"NaN", b"Infinity", b"\\ud", b"\\uD")
"""One of them stands in a body that holds no number, or half of a pair: each value is looked at."""
MOST = 500_000
"""Objects and lists in all: of three bytes that say so, each takes a hundred to hold."""
_TEXTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SINGLE = frozenset({str, int, float, bool, type(None)})


class StrictRequest(Request):
    """A request whose JSON is strict."""

    async def json(self) -> Any:
        """The body's value; raises a 400 problem."""
        data = await self.body()
        try:
            return await asyncio.to_thread(strict, data) if len(data) > LARGE else strict(data)
        except BadInput as error:
            raise _bad_json(error) from None  # a name for it here would hold the body


def _bad_json(error: BadInput) -> ProblemError:
    found = problem_of(error)
    found.kind = "bad-json"
    return found


def strict(data: bytes) -> Any:
    """JSON as a value; raises `BadInput` with the place of what is wrong."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"the body is not UTF-8 at byte {error.start + 1}") from None
    if data.count(b"[") + data.count(b"{") > MOST and _held(data) > MOST:
        raise BadInput(f"the body holds more than {MOST:,} lists and objects; send fewer at once")
    value = parse_json(text, "send one JSON object")
    if isinstance(value, dict | list):  # anything else is no request
        _refuse_odd(value, each=any(odd in data for odd in _ODD))
    return value


def _held(data: bytes) -> int:
    """Lists and objects: brackets outside of texts."""
    bare = _TEXTS.sub(b"", data)
    return bare.count(b"[") + bare.count(b"{")


def _refuse_odd(value: Any, *, each: bool) -> None:
    """Walk what holds others; single values only where one of them is odd, or may be."""
    waiting: list[tuple[Any, tuple[Any, ...]]] = [(value, ())]
    while waiting:
        here, path = waiting.pop()
        if len(path) > DEEPEST:
            raise BadInput(f"nested more than {DEEPEST} deep", field=spelled(path[:4]))
        items = here.values() if isinstance(here, dict) else here
        kinds = set(map(type, items))
        looked = each or (float in kinds and (inf in items or -inf in items))
        if not looked and kinds <= _SINGLE:
            continue  # most of a body: vectors, texts, numbers
        for key, one in here.items() if isinstance(here, dict) else enumerate(here):
            inner = (*path, key)
            if isinstance(one, dict | list):
                waiting.append((one, inner))
            elif looked:
                _refuse_value(one, inner)
            if looked and isinstance(key, str):
                _refuse_value(key, path)


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
