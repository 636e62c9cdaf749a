"""Rows of results, a line of JSON for each case and trial, in a file that a run can continue.

A row is reused only under its own key; a torn line is no row; a finished run leaves its rows in
order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any, TypeVar

from foveate.core.errors import BadInput
from foveate.evals.measures import Measures
from foveate.stores.atomic_write import atomic_write

T = TypeVar("T")
_FIRST_BYTES = b'{"key": '
"""Of a row, also of an older one and of one that was torn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The measures of one trial on one case.

    `failed`: empty, or why there was no context, which counts as an empty one. `hygiene`: the
    faults that the context has, by their names.
    """

    key: str
    dataset: str
    id: str
    recipe: str
    budget: int
    failed: str
    measures: Measures
    hygiene: Mapping[str, int] = field(default_factory=dict)


_MEASURE_NAMES = tuple(f.name for f in fields(Measures))
_OWN_NAMES = tuple(f.name for f in fields(Row) if f.name != "measures")


def row_from_json(record: Mapping[str, Any]) -> Row:
    """The object as a row; raises `KeyError` or `TypeError`."""
    measures = Measures(**{name: record[name] for name in _MEASURE_NAMES})
    return Row(measures=measures, **{name: record[name] for name in _OWN_NAMES})


def load_rows(path: Path) -> dict[str, Row]:
    """The rows of the file by their keys; none without a file. Raises `BadInput`."""
    return load_json_lines(path, row_from_json, "results of an evaluation")


def load_json_lines(path: Path, parse: Callable[[Any], T], what: str) -> dict[str, T]:
    """The readable records by their keys; torn lines are passed over.

    Raises `BadInput` for a file of something else, which would be overwritten.
    """
    if not path.exists():
        return {}
    found, data = {}, path.read_bytes()
    for line in data.split(b"\n"):
        try:
            record = json.loads(line)
            found[record["key"]] = parse(record)
        except (ValueError, KeyError, TypeError):
            continue
    if data.strip() and not found and not data.startswith(_FIRST_BYTES):
        raise BadInput(f"{path}: holds no {what}; name another folder")
    return found


def encode_row(row: Row) -> bytes:
    """The row's line: one flat object."""
    plain = asdict(row)
    measures = plain.pop("measures")
    return json.dumps(plain | measures, ensure_ascii=False).encode() + b"\n"


@contextmanager
def open_for_append(path: Path) -> Iterator[IO[bytes]]:
    """The file, open at its end and on a fresh line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                file.write(b"\n")
        yield file


def replace_rows(path: Path, rows: Iterable[Row]) -> None:
    """Leave exactly these rows in the file, in this order; it changes all at once."""
    with atomic_write(path) as file:
        file.writelines(encode_row(row) for row in rows)
