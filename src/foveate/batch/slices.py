"""What an engine maps over: a few requests of a partition, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from foveate.batch.requests import BatchAnswer, answer_line
from foveate.core.errors import BadInput

__all__ = ["AnswerColumns", "NumberedLine", "Row", "Slice", "answer_slice", "split_slices"]

NumberedLine = tuple[int, bytes]
"""A request and its number in its partition, counted from 1."""

MAX_SLICE_BYTES = 1 << 20
"""Of a slice, unless one request alone has more; so what is under way has a bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Requests of one partition, in order. `columns`: whether the answers go to a table.

    `last`: nothing of this partition comes after it; `failure`: because it cannot be read on.
    """

    partition: int
    lines: tuple[NumberedLine, ...]
    columns: bool = False
    last: bool = False
    failure: str = ""


class AnswerColumns(NamedTuple):
    """What a table shows beside the whole answer."""

    id: str | None
    text: str | None
    token_count: int | None
    error: dict[str, str] | None


class Row(NamedTuple):
    """An answer: the JSON line, and its columns where they are wanted."""

    line: bytes
    refused: bool
    columns: AnswerColumns | None


def answer_slice(given: Slice) -> list[Row]:
    """The answers to a slice; what is mapped over them, by any engine."""
    return [
        _build_row(answer_line(line, number), columns=given.columns) for number, line in given.lines
    ]


def _build_row(found: BatchAnswer, *, columns: bool) -> Row:
    return Row(
        line=encode_line(found),
        refused="error" in found,
        columns=_build_columns(found) if columns else None,
    )


def encode_line(found: BatchAnswer) -> bytes:
    """As the command line writes JSON; half a surrogate pair in an id becomes its JSON escape."""
    return json.dumps(found, ensure_ascii=False, allow_nan=False).encode(errors="backslashreplace")


def _build_columns(found: BatchAnswer) -> AnswerColumns:
    name: Any = found["id"]
    error = found.get("error")
    return AnswerColumns(
        id=None if name is None else _escape_surrogates(str(name)),
        text=found.get("text"),
        token_count=found.get("token_count"),
        error=error and {key: _escape_surrogates(value) for key, value in error.items()},
    )


def _escape_surrogates(text: str) -> str:
    """Text that UTF-8 can hold."""
    return text.encode(errors="backslashreplace").decode()


def split_slices(
    partition: int,
    lines: Iterable[NumberedLine],
    *,
    columns: bool,
    most: int,
    wanted: Callable[[], bool] = lambda: True,
) -> Iterator[Slice]:
    """The partition in slices; the last one says so, and what was wrong where it ended early.

    `most`: requests of a slice; `wanted` is asked after each whether anybody wants more of them.
    """
    kept: list[NumberedLine] = []
    size = 0
    try:
        for line in lines:
            if kept and (len(kept) >= most or size + len(line[1]) > MAX_SLICE_BYTES):
                yield Slice(partition=partition, lines=tuple(kept), columns=columns)
                if not wanted():
                    return
                kept, size = [], 0
            kept.append(line)
            size += len(line[1])
    except BadInput as error:
        yield Slice(partition=partition, lines=(), last=True, failure=str(error))
        return
    yield Slice(partition=partition, lines=tuple(kept), columns=columns, last=True)
