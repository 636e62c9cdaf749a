"""Rows of pandas, polars and Arrow tables, and of anything with Arrow's C stream.

Tables are told apart by their methods, so nothing is imported. A column is a field of a candidate
(SPEC I2, or by another system's name) or metadata. Nulls are missing, and in pandas NaN, NaT and
NA, except in `score`; elsewhere NaN is a number and refused where a field must be one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from foveate.core.errors import BadInput, MissingExtra
from foveate.core.fields import LIKELY_TEXT_KEYS, MAX_LISTED_KEYS, SCORE_KEYS, TEXT_KEYS


def rows_from_table(items: Any) -> list[dict[str, Any]] | None:
    """The table's rows as mappings, what is missing left out; None where this is no table.

    Raises `BadInput` for a table without a column `text`, with two columns of one name, or with a
    cell that Python has no value for; `MissingExtra` where a stream needs pyarrow to be read.

    >>> rows_from_table([{"text": "No table."}]) is None
    True
    """
    columns = _read_columns(items)
    if columns is None:
        return None
    size = len(columns[0].cells) if columns else 0
    _check_columns(columns, size)
    found: list[dict[str, Any]] = [{} for _ in range(size)]
    for column in columns:
        for row, value in zip(found, _parse_cells(column), strict=True):
            if value is not None:
                row[column.name] = value
    _check_scores(found)
    return found


def _parse_cells(column: Column) -> Iterator[Any]:
    for number, cell in enumerate(column.cells, 1):
        try:
            value = parse_cell(cell, column)
        except (ValueError, OverflowError) as error:  # a time that no calendar has
            message = f"holds what cannot be read: {error}; cast it, or drop it"
            raise BadInput(message, line=number, field=column.name, place="row") from None
        yield value


def _read_columns(items: Any) -> Sequence[Column] | None:
    if isinstance(items, list | tuple | dict | str | bytes):
        return None
    if hasattr(items, "collect") and hasattr(items, "collect_schema"):
        raise BadInput("is a lazy frame, whose rows are not there yet; call .collect() on it")
    if all(hasattr(items, name) for name in ("iterrows", "iloc", "columns")):
        return _read_pandas(items)
    if all(hasattr(items, name) for name in ("to_dicts", "get_columns")):  # polars
        return [Column(name=one.name, cells=_polars_cells(one)) for one in items.get_columns()]
    if _is_arrow(items):
        return _read_arrow(items)
    if hasattr(items, "__arrow_c_stream__"):
        return _read_arrow(_arrow_from_stream(items))
    return None


def _check_columns(columns: Sequence[Column], size: int) -> None:
    names = Counter(column.name for column in columns)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise BadInput(
            f"the table has {names[twice[0]]} columns of this name; rename or drop one",
            field=twice[0],
        )
    if size and names.keys().isdisjoint(("text", *TEXT_KEYS)):
        raise BadInput(
            f"the table has no such column, {_missing_text_hint(list(names))}", field="text"
        )


def _check_scores(found: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a row without a score among rows that have one: it would count as 0."""
    lacking = [number for number, row in enumerate(found, 1) if "score" not in row]
    if 0 < len(lacking) < len(found):
        message = "is missing, and other rows have one; fill it, or drop the row or the column"
        raise BadInput(message, line=lacking[0], field="score", place="row")


def _missing_text_hint(names: list[str]) -> str:
    likely = next((name for name in LIKELY_TEXT_KEYS if name in names), None)
    if likely is not None:
        return f"but {likely!r}; rename that to 'text'"
    listed = ", ".join(map(repr, names[:MAX_LISTED_KEYS])) + (
        ", …" if len(names) > MAX_LISTED_KEYS else ""
    )
    return f"but {listed}; rename the one that holds the text"


def _read_pandas(frame: Any) -> list[Column]:
    index = frame.index
    found = [
        Column(name=str(name), cells=index.get_level_values(place).tolist(), nan_is_missing=True)
        for place, name in enumerate(index.names)
        if name is not None
    ]
    for place, name in enumerate(frame.columns):
        cells = frame.iloc[:, place].tolist()
        found.append(Column(name=str(name), cells=cells, nan_is_missing=True))
    return found


def _polars_cells(series: Any) -> Any:
    if series.name == VECTOR_COLUMN and hasattr(series.dtype, "shape") and not series.has_nulls():
        vectors = series.to_numpy()
        if vectors.ndim == 2 and vectors.dtype.kind == "f":
            return list(vectors)
    try:
        return series.to_list()
    except BaseException as error:  # what its engine raises is no Exception
        if type(error).__name__ != "PanicException":
            raise
        message = f"the column ({series.dtype}) holds what cannot be read; cast it, or drop it"
        raise BadInput(message, field=series.name) from None


def _is_arrow(items: Any) -> bool:
    names = ("schema", "to_pylist", "column")
    reader = hasattr(items, "schema") and hasattr(items, "read_all")
    return reader or all(hasattr(items, name) for name in names)


def _arrow_from_stream(stream: Any) -> Any:
    """The table of anything that hands out Arrow's C stream; needs pyarrow."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("pyarrow", "tables") from None
    try:
        return pa.table(stream)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise BadInput(
            f"is no table of rows: {_short_error(error)}; give one with columns"
        ) from None


def _read_arrow(table: Any) -> list[Column]:
    if hasattr(table, "read_all"):
        table = table.read_all()
    names = [field.name for field in table.schema]
    return [
        Column(name=name, cells=_arrow_cells(name, table.column(place)))
        for place, name in enumerate(names)
    ]


def _arrow_cells(name: str, column: Any) -> Any:
    if name == VECTOR_COLUMN and hasattr(column.type, "list_size") and column.null_count == 0:
        vectors = _arrow_vectors(column)
        if vectors is not None:
            return vectors
    try:
        return _arrow_values(column)
    except (ValueError, KeyError, OverflowError, TypeError, NotImplementedError) as error:
        message = f"the column ({column.type}) holds what cannot be read: {_short_error(error)}"
        raise BadInput(f"{message}; cast it, or drop it", field=name) from None


def _arrow_values(column: Any) -> list[Any]:
    if "map<" not in str(column.type):
        return list(column.to_pylist())
    try:
        return list(column.to_pylist(maps_as_pydicts="strict"))
    except TypeError as error:
        if "maps_as_pydicts" not in str(error):
            raise
    cells = column.to_pylist()
    if not str(column.type).startswith("map<"):
        return list(cells)
    return [mapping_from_pairs(cell) if isinstance(cell, list) else cell for cell in cells]


def _arrow_vectors(column: Any) -> list[Any] | None:
    found = []
    for chunk in getattr(column, "chunks", [column]):
        flat = chunk.flatten()
        if flat.null_count:
            return None
        if len(chunk):  # filtered and joined tables have empty ones
            found += list(flat.to_numpy(zero_copy_only=False).reshape(len(chunk), -1))
    return found


def _short_error(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].partition(". ")[0]


VECTOR_COLUMN = "embedding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's name and its cells; `nan_is_missing`: whether a NaN is an empty cell."""

    name: str
    cells: Sequence[Any]
    nan_is_missing: bool = False


def parse_cell(cell: Any, column: Column) -> Any:
    """The cell's value; None where it is missing.

    >>> parse_cell({"page": 3, "rating": None}, Column(name="metadata", cells=()))
    {'page': 3}
    """
    kind = type(cell)
    if cell is None or kind is str or kind is int or kind is bool:
        return cell
    if kind is not float:
        if column.name == VECTOR_COLUMN and hasattr(cell, "__len__"):
            return cell
        if column.name == "metadata" and isinstance(cell, list):
            cell = mapping_from_pairs(cell)
        cell = _parse_value(cell)
    if isinstance(cell, float):
        gap = column.nan_is_missing and cell != cell and column.name != "score"  # noqa: PLR0124
        return None if gap else cell
    if column.name == "modified_at" and isinstance(cell, date):
        return _to_utc(cell)
    return float(cell) if column.name in SCORE_KEYS and isinstance(cell, Decimal) else cell


def mapping_from_pairs(cell: list[Any]) -> Any:
    """A list of pairs, as pandas holds a map of Arrow's, as a mapping; raises `ValueError`."""
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in cell):
        return cell
    found = dict(cell)
    if len(found) < len(cell):
        raise ValueError("a key comes twice")
    return found


def _parse_value(cell: Any) -> Any:
    """Without what belongs to one library alone; what is missing in a struct is left out."""
    if isinstance(cell, dict):
        known = ((str(key), _parse_value(value)) for key, value in cell.items())
        return {key: value for key, value in known if value is not None}
    if isinstance(cell, list | tuple):
        return [_parse_value(item) for item in cell]
    if isinstance(cell, datetime):
        return _parse_timestamp(cell)
    if hasattr(cell, "to_pytimedelta"):
        return cell.to_pytimedelta()
    if type(cell).__name__ == "NAType":  # pandas': equal to nothing, true as little as false
        return None
    if hasattr(cell, "dtype") and hasattr(cell, "tolist"):  # of numpy: an array, or one number
        return _parse_value(cell.tolist())
    return cell


def _parse_timestamp(cell: datetime) -> datetime | None:
    if cell != cell:  # noqa: PLR0124 (NaT)
        return None
    if hasattr(cell, "to_pydatetime"):
        found: datetime = cell.to_pydatetime(warn=False)
        return found
    return cell


def _to_utc(value: date) -> datetime:
    """In UTC, for an instant is the same whatever zone it is told in; a day at its beginning."""
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
