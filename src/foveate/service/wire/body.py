"""JSON in and out.

A request's JSON is strict: a key that comes twice, NaN, an infinite number, half of a surrogate
pair and deep nesting are refused with their place. `limits/body.py` bounds the length.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from math import inf, isfinite
from sys import float_info
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput
from foveate.service.auth.caller import RequireScope
from foveate.service.problems import problem_from_error
from foveate.service.wire.errors import ProblemError

THREAD_ABOVE_BYTES = 200_000
"""Bytes beyond which a body is read on a thread, so that others are served meanwhile."""
MAX_DEPTH = 64
"""Objects and lists within one another."""
_SUSPECT_BYTES = (b"NaN", b"Infinity", b"\\ud", b"\\uD")
"""One of them stands in a body that holds no number, or half of a pair: each value is looked at."""
MAX_INT = int(float_info.max)
"""What no other number is compared with, and no store can hold."""
MAX_CONTAINERS = 500_000
"""Objects and lists in all: of three bytes that say so, each takes a hundred to hold."""
_STRING_PATTERN = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SCALAR_TYPES = frozenset({str, int, float, bool, type(None)})


class StrictRequest(Request):
    """A request whose JSON is strict."""

    async def json(self) -> Any:
        """The body's value; raises a 400 problem."""
        data = await self.body()
        try:
            return (
                await asyncio.to_thread(parse_strict_json, data)
                if len(data) > THREAD_ABOVE_BYTES
                else parse_strict_json(data)
            )
        except BadInput as error:
            raise _bad_json_problem(error) from None  # a name for it here would hold the body


def _bad_json_problem(error: BadInput) -> ProblemError:
    found = problem_from_error(error)
    found.kind = "bad-json"
    return found


def parse_strict_json(data: bytes) -> Any:
    """JSON as a value; raises `BadInput` with the place of what is wrong."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"the body is not UTF-8 at byte {error.start + 1}") from None
    if (
        data.count(b"[") + data.count(b"{") > MAX_CONTAINERS
        and _count_containers(data) > MAX_CONTAINERS
    ):
        raise BadInput(
            f"the body holds more than {MAX_CONTAINERS:,} lists and objects; send fewer at once"
        )
    value = parse_json(text, "send one JSON object")
    if isinstance(value, dict | list):  # anything else is no request
        _check_values(value, each=any(odd in data for odd in _SUSPECT_BYTES))
    return value


def _count_containers(data: bytes) -> int:
    """The lists and objects: brackets outside of strings."""
    bare = _STRING_PATTERN.sub(b"", data)
    return bare.count(b"[") + bare.count(b"{")


def _check_values(value: Any, *, each: bool) -> None:
    """Check containers; scalars only where one may be wrong."""
    waiting: list[tuple[Any, tuple[Any, ...]]] = [(value, ())]
    while waiting:
        here, path = waiting.pop()
        if len(path) > MAX_DEPTH:
            raise BadInput(f"nested more than {MAX_DEPTH} deep", field=format_path(path[:4]))
        items = here.values() if isinstance(here, dict) else here
        kinds = set(map(type, items))
        looked = (
            each
            or (float in kinds and (inf in items or -inf in items))
            or (int in kinds and any(type(one) is int and abs(one) > MAX_INT for one in items))
        )
        if not looked and kinds <= _SCALAR_TYPES:
            continue  # most of a body: vectors, texts, numbers
        for key, one in here.items() if isinstance(here, dict) else enumerate(here):
            inner = (*path, key)
            if isinstance(one, dict | list):
                waiting.append((one, inner))
            elif looked:
                _check_value(one, inner)
            if looked and isinstance(key, str):
                _check_value(key, path)


def _check_value(value: Any, path: tuple[Any, ...]) -> None:
    if isinstance(value, float) and not isfinite(value):
        _raise_bad_value(f"must be a finite number, not {value!r}", path)
    if isinstance(value, int) and abs(value) > MAX_INT:
        _raise_bad_value("must be a number below 1.8e308", path)
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            _raise_bad_value("holds a lone surrogate; decode it with errors='replace'", path)


def _raise_bad_value(message: str, path: tuple[Any, ...]) -> None:
    """Candidates are named by their place in the list, as everywhere."""
    if len(path) > 2 and path[0] == "candidates" and isinstance(path[1], int):
        raise BadInput(message, line=path[1] + 1, field=format_path(path[2:]), place="item")
    raise BadInput(message, field=format_path(path))


def format_path(path: tuple[Any, ...]) -> str:
    """The path of a value, as in `where.team`."""
    return ".".join(map(str, path))


class StrictRoute(APIRoute):
    """A route whose bodies are read by `wire/body.py`, once the caller may send one."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The framework's handler, given the strict request."""
        handler = super().get_route_handler()
        needed = [d.call for d in self.dependant.dependencies if isinstance(d.call, RequireScope)]

        async def strict(request: Request) -> Response:
            for need in needed:  # before the body is read: it is nobody's who may not send it
                await need(request)
            return await handler(StrictRequest(request.scope, request.receive))

        return strict
