"""Parquet files of requests and answers.

Requests: a column `request` with the JSON of one request a row, or columns with the names of a
request's keys, where `chunks` and `messages` are lists of structs or JSON. A null is a missing key.
The `answer` column holds the line of JSON Lines byte for byte. The same answers make the same bytes
on every engine: plain encoding, row groups of 1,000 answers or 32 MiB, no time or path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from foveate.batch.requests import LIST_KEYS, MAIN_KEYS, OPTION_KEYS, NumberedLine, Row
from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput, MissingExtra, UnknownName

try:
    import pyarrow as pa
    from pyarrow import parquet, types
except ImportError:
    raise MissingExtra("pyarrow", "ray") from None

REQUEST_COLUMN = "request"
MAX_GROUP_ROWS, MAX_GROUP_BYTES = 1_000, 32 << 20
"""Of a row group, at the most; so memory has a bound, and a reader can take a part."""

READ_BATCH_ROWS = 64
"""Rows that are read at a time."""

_CONVERSION_ERRORS = (ValueError, TypeError, OverflowError, KeyError)
"""What pyarrow raises at a map that has a key twice, or at a time that no calendar of ours has."""


def _answer_schema() -> Any:
    """Columns to read and join by; `answer` is the whole line."""
    return pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("token_count", pa.int64()),
            ("error", pa.struct([("type", pa.string()), ("message", pa.string())])),
            ("answer", pa.string()),
        ]
    )


class AnswerTable:
    """Takes answers in order and writes them; `Table.into` opens one."""

    def __init__(self, file: IO[bytes]) -> None:
        self._schema = _answer_schema()
        self._writer = parquet.ParquetWriter(
            file,
            self._schema,
            compression="zstd",
            compression_level=3,
            use_dictionary=False,
            write_statistics=["id", "token_count"],
            store_schema=False,
        )
        self._rows: list[Row] = []
        self._size = 0

    @classmethod
    @contextmanager
    def open(cls, file: IO[bytes]) -> Iterator[AnswerTable]:
        """A table in the file, which is completed if no error is raised."""
        table = cls(file)
        try:
            yield table
            table._flush()
        finally:
            table._writer.close()

    def write(self, row: Row) -> None:
        """One answer more."""
        self._rows.append(row)
        self._size += len(row.line)
        if len(self._rows) >= MAX_GROUP_ROWS or self._size >= MAX_GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        answers = [json.loads(row.line) for row in self._rows]
        values: Sequence[Sequence[Any]] = [
            [None if one["id"] is None else _escape_surrogates(str(one["id"])) for one in answers],
            [one.get("text") for one in answers],
            [one.get("token_count") for one in answers],
            [_error_column(one.get("error")) for one in answers],
            [row.line.decode() for row in self._rows],
        ]
        arrays = [
            pa.array(column, field.type) for column, field in zip(values, self._schema, strict=True)
        ]
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))
        self._rows, self._size = [], 0


def _error_column(error: dict[str, str] | None) -> dict[str, str] | None:
    return error and {key: _escape_surrogates(value) for key, value in error.items()}


def _escape_surrogates(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


def count_rows(name: str) -> int:
    """How many rows the table has. Raises `BadInput`."""
    return int(_open_parquet(name).metadata.num_rows)


def read_table(name: str) -> Iterator[NumberedLine]:
    """The requests of a table, one JSON object a row. Raises `BadInput`, also on the way."""
    file = _open_parquet(name)
    try:
        names = _request_columns(file.schema_arrow, name)
        number = 0
        for batch in file.iter_batches(batch_size=READ_BATCH_ROWS, columns=names):
            for row in _encode_rows(batch, name, number):
                number += 1
                yield number, row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{name}: is damaged: {_short_error(error)}; write it again") from None
    finally:
        file.close()


def _open_parquet(name: str) -> Any:
    try:
        return parquet.ParquetFile(name)
    except FileNotFoundError:
        raise BadInput(f"{name}: no such file") from None
    except pa.ArrowInvalid as error:
        raise BadInput(f"{name}: is not Parquet: {_short_error(error)}") from None
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{name}: cannot be read: {_short_error(error)}") from None


def _short_error(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].partition(". ")[0]


def _request_columns(schema: Any, name: str) -> list[str]:
    """The columns to read. Raises `BadInput` if they hold no requests."""
    if REQUEST_COLUMN in schema.names:
        kind = schema.field(REQUEST_COLUMN).type
        if not _is_text_type(kind):
            raise BadInput(
                f"{name}: column {REQUEST_COLUMN!r} is {kind}; it must hold JSON as a string"
            )
        return [REQUEST_COLUMN]
    known = (*MAIN_KEYS, *OPTION_KEYS)
    if twice := {each for each in schema.names if schema.names.count(each) > 1}:
        raise BadInput(f"{name}: has column {min(twice)!r} more than once; keep one of them")
    for column in schema:
        if column.name not in known:
            raise BadInput(
                f"{name}: {UnknownName('column', column.name, (*known, REQUEST_COLUMN))}"
            )
        if wrong := _unreadable_type(column.type):
            raise BadInput(
                f"{name}: column {column.name!r} holds {wrong}, which JSON has no word for; "
                f"cast it, or write requests as JSON into one column {REQUEST_COLUMN!r}"
            )
    for key in ("query", "chunks"):
        if key not in schema.names:
            raise BadInput(
                f"{name}: has no column {key!r}; give one column {REQUEST_COLUMN!r} with JSON, or "
                f"columns named {', '.join(MAIN_KEYS)}"
            )
    return list(schema.names)


def _is_text_type(kind: Any) -> bool:
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _unreadable_type(kind: Any) -> str:
    """The part of a column's type that has no JSON form; empty if there is none."""
    if types.is_struct(kind):
        parts = [kind.field(i).type for i in range(kind.num_fields)]
    elif types.is_map(kind):
        if not _is_text_type(kind.key_type):
            return str(kind)
        parts = [kind.item_type]
    elif types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        parts = [kind.value_type]
    else:
        plain = (types.is_null, types.is_boolean, types.is_integer, types.is_floating)
        timed = (types.is_timestamp, types.is_date)
        good = _is_text_type(kind) or any(test(kind) for test in (*plain, *timed))
        return "" if good else str(kind)
    return next((wrong for part in parts if (wrong := _unreadable_type(part))), "")


def _encode_rows(batch: Any, name: str, before: int) -> Iterator[bytes]:
    """The rows of a batch as JSON; `before`: how many rows come before it."""
    if batch.schema.names == [REQUEST_COLUMN]:
        for text in batch.column(0).to_pylist():
            yield b"null" if text is None else text.encode()
        return
    for row in _read_rows(batch, name, before):
        # Data frames write a missing number as NaN, which differs from itself.
        given = {k: v for k, v in row.items() if v is not None and v == v}  # noqa: PLR0124
        record = {key: _parse_value(key, value) for key, value in given.items()}
        line = json.dumps(record, ensure_ascii=False, default=lambda time: time.isoformat())
        yield line.encode(errors="backslashreplace")  # half a surrogate pair, as JSON escapes it


def _read_rows(batch: Any, name: str, before: int) -> list[dict[str, Any]]:
    """The rows of a batch in Python. Raises `BadInput` for a value without a Python form."""
    try:
        return list(batch.to_pylist(maps_as_pydicts="strict"))
    except pa.ArrowException:
        raise
    except _CONVERSION_ERRORS as error:
        if batch.num_rows > 1:  # only one of them is to blame: each alone says which
            return [
                row
                for i in range(batch.num_rows)
                for row in _read_rows(batch.slice(i, 1), name, before + i)
            ]
        raise BadInput(
            f"{name}: row {before + 1} holds what cannot be read: {_short_error(error)}; "
            f"mend or drop that row"
        ) from None


def _parse_value(key: str, value: Any) -> Any:
    """The value of a request's key; lists may be written as JSON, a budget as a float."""
    if key == "budget" and isinstance(value, float) and value.is_integer():
        return int(value)
    if key in LIST_KEYS and isinstance(value, str):
        try:
            return parse_json(value)
        except BadInput:
            return value  # the request is refused for it, by its name
    return _drop_nulls(value)


def _drop_nulls(value: Any) -> Any:
    """Remove null fields of structs, which are missing keys."""
    if isinstance(value, dict):
        return {key: _drop_nulls(each) for key, each in value.items() if each is not None}
    return [_drop_nulls(each) for each in value] if isinstance(value, list) else value
