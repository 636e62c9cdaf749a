"""Many requests, one JSON line each → one context line each, in the same order.

`answer` is a pure function of a line, so that any engine can map it over any partition. A request
that is refused becomes a line that says why, and the rest go on. No clock: same lines, same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from foveate.core.candidates import candidates_from_items, parse_json
from foveate.core.context_json import context_to_json
from foveate.core.errors import BadInput, BadOption, ExternalError, InvalidRequest, UnknownName
from foveate.pipeline.assembler import assemble
from foveate.pipeline.options import AssembleOptions, resolve_options

MAIN_KEYS = ("id", "query", "chunks", "budget", "recipe")
_SEARCH = ("where", "limit", "depth")
_RETRIEVED = ("neighbours", "supplements", "intent", "query_embedding")
OPTIONS = tuple(
    one.name for one in fields(AssembleOptions) if one.name not in (*_SEARCH, *_RETRIEVED)
)
"""The options that a request may have, of its context alone."""
LIST_KEYS = ("chunks", "messages", "principals")
TEXT_KEYS = ("query", "recipe", "tokenizer", "model", "format", "order")

BatchAnswer = dict[str, Any]


def answer_line(line: bytes, number: int) -> BatchAnswer:
    """The answer to one line, or `{"id", "error": {"type", "message"}}`; never raises.

    `number`: the line's, from 1; named if the line is no request.

    >>> answer_line(b'{"id": 7, "query": "Who?", "chunks": [], "bugdet": 5}', 1)
    {'id': 7, 'error': {'type': 'UnknownName',
     'message': "unknown key 'bugdet'; did you mean 'budget'?"}}
    """
    name: Any = None
    try:
        record = _parse_record(line, number)
        name = _get_id(record)
        return {"id": name, **_assemble_record(record)}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  # one bad request must not stop the rest
        return {"id": name, "error": {"type": type(error).__name__, "message": str(error)}}


def _parse_record(line: bytes, number: int) -> Mapping[str, Any]:
    """The request of a line; errors name the line."""
    try:
        record = parse_json(line.decode())
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 at byte {error.start + 1}", line=number) from None
    except BadInput as error:
        raise BadInput(str(error), line=number) from None
    if not isinstance(record, Mapping):
        what = type(record).__name__
        raise BadInput(f"a request is an object with a query and chunks, not {what}", line=number)
    return record


def _get_id(record: Mapping[str, Any]) -> str | int | None:
    name = record.get("id")
    if name is not None and (isinstance(name, bool) or not isinstance(name, str | int)):
        raise BadInput("must be a string or a whole number", field="id")
    return name


def _assemble_record(record: Mapping[str, Any]) -> BatchAnswer:
    given = {key: value for key, value in record.items() if value is not None}
    _check_keys(given)
    options = AssembleOptions().changed({key: given[key] for key in OPTIONS if key in given})
    resolve_options(options, given["query"])  # a wrong option is named before wrong chunks are
    try:
        candidates = candidates_from_items(given["chunks"])
    except InvalidRequest as error:
        raise BadInput(f"chunks: {error}") from error
    return context_to_json(assemble(given["query"], candidates, options=options))


def _check_keys(given: Mapping[str, Any]) -> None:
    """Refuse what is misspelled, missing, or asked for twice."""
    for key in given:
        if key not in (*MAIN_KEYS, *OPTIONS):
            raise UnknownName("key", key, sorted({*MAIN_KEYS, *OPTIONS}))
    for key in ("query", "chunks"):
        if key not in given:
            raise BadInput("is missing", field=key)
    if "tokenizer" in given and "model" in given:
        raise BadOption("give tokenizer or model, not both: a model brings its tokenizer")
    _check_types(given)


def _check_types(given: Mapping[str, Any]) -> None:
    """Refuse what is not of its kind."""
    for key in TEXT_KEYS:
        if not isinstance(given.get(key, ""), str):
            raise BadInput(f"must be a string, not {type(given[key]).__name__}", field=key)
    for key in LIST_KEYS:
        if not isinstance(given.get(key, []), list):
            raise BadInput(f"must be a list, not {type(given[key]).__name__}", field=key)
    if not all(isinstance(name, str) for name in given.get("principals", [])):
        raise BadInput("must be a list of strings", field="principals")


NumberedLine = tuple[int, bytes]
"""A request and its line's number, counted from 1."""
Slice = tuple[NumberedLine, ...]
"""Requests that a worker answers together, in order."""

MAX_SLICE_BYTES = 1 << 20
"""Of a slice, unless one request alone has more, so work in progress has a bound."""


class Row(NamedTuple):
    """An answer as a line of JSON. `error`: the class of the error, "" if there is none.

    `is_lost`: there was no worker that it did not kill.
    """

    line: bytes
    error: str
    is_lost: bool = False


def answer_slice(given: Slice) -> list[Row]:
    """The answers to a slice; engines map this function over slices."""
    found = (answer_line(line, number) for number, line in given)
    return [
        Row(line=encode_line(answer), error=answer.get("error", {"type": ""})["type"])
        for answer in found
    ]


def lost_row(given: NumberedLine, reason: str) -> Row:
    """The answer to a request that no worker could finish."""
    number, line = given
    try:
        name = _get_id(_parse_record(line, number))
    except BadInput:
        name = None
    kind = ExternalError.__name__
    answer = {"id": name, "error": {"type": kind, "message": reason}}
    return Row(line=encode_line(answer), error=kind, is_lost=True)


def encode_line(found: BatchAnswer) -> bytes:
    """One line of JSON; a lone surrogate in an id becomes its JSON escape."""
    return json.dumps(found, ensure_ascii=False, allow_nan=False).encode(errors="backslashreplace")


def split_slices(lines: Iterable[bytes], *, most: int) -> Iterator[Slice]:
    """The requests in slices of at most so many, as they are read; blank lines are passed over."""
    kept: list[NumberedLine] = []
    size = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if kept and (len(kept) >= most or size + len(line) > MAX_SLICE_BYTES):
            yield tuple(kept)
            kept, size = [], 0
        kept.append((number, line))
        size += len(line)
    if kept:
        yield tuple(kept)
