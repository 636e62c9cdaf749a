"""Tables of pandas, polars and Arrow, and of all that hands out Arrow's C stream → rows.

Told apart by what they can do, so that nothing of theirs is imported: whoever hands a table over
has it. A column is a field of a candidate by its name (SPEC I2) or by a name that other
systems give it, any other goes to the metadata. Rows keep their order.

What is missing in a row: a null; and in pandas, which writes them so, NaN, NaT and NA, but never in
`score`, for a score that is NaN is refused, and so is a row without one where others have it.
Everywhere else NaN is a number that is none, and is refused where a field must be one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foveate.core.errors import BadInput, MissingExtra
from foveate.core.record_keys import TEXT_KEYS
from foveate.pipeline.tables.cells import VECTOR_COLUMN, Column, mapping_from_pairs, parse_cell

LIKELY_TEXT_COLUMNS = ("body", "chunk", "chunk_text", "passage", "document")
"""What others call the column that is `text` here."""
MAX_LISTED_COLUMNS = 12
"""Columns; so many are named in an error."""


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
    """Its cells as plain values; raises `BadInput` with the row where Python has none for one."""
    for number, cell in enumerate(column.cells, 1):
        try:
            value = parse_cell(cell, column)
        except (ValueError, OverflowError) as error:  # a time that no calendar has
            message = f"holds what cannot be read: {error}; cast it, or drop it"
            raise BadInput(message, line=number, field=column.name) from None
        yield value


def _read_columns(items: Any) -> Sequence[Column] | None:
    """The table's columns, or None."""
    if isinstance(items, list | tuple | dict | str | bytes):
        return None
    if hasattr(items, "collect") and hasattr(items, "collect_schema"):
        raise BadInput("is a lazy frame, whose rows are not there yet; call .collect() on it")
    if _is_pandas(items):
        return _read_pandas(items)
    if _is_polars(items):
        return _read_polars(items)
    if _is_arrow(items):
        return _read_arrow(items)
    if hasattr(items, "__arrow_c_stream__"):
        return _read_arrow(_arrow_from_stream(items))
    return None


def _check_columns(columns: Sequence[Column], size: int) -> None:
    """Refuse names that come twice, and rows without a text."""
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
    """Refuse a row without a score among such that have one: it would count as 0, above or below.

    Of logits, which are negative, 0 is the best.
    """
    lacking = [number for number, row in enumerate(found, 1) if "score" not in row]
    if 0 < len(lacking) < len(found):
        message = "is missing, and other rows have one; fill it, or drop the row or the column"
        raise BadInput(message, line=lacking[0], field="score")


def _missing_text_hint(names: list[str]) -> str:
    """What to do about a column that is not there."""
    likely = next((name for name in LIKELY_TEXT_COLUMNS if name in names), None)
    if likely is not None:
        return f"but {likely!r}; rename that to 'text'"
    listed = ", ".join(map(repr, names[:MAX_LISTED_COLUMNS])) + (
        ", …" if len(names) > MAX_LISTED_COLUMNS else ""
    )
    return f"but {listed}; rename the one that holds the text"


def _is_pandas(items: Any) -> bool:
    """Whether it has what is used here."""
    return all(hasattr(items, name) for name in ("iterrows", "iloc", "columns"))


def _read_pandas(frame: Any) -> list[Column]:
    """The named levels of the index, then the columns, by place, because names may come twice."""
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


def _is_polars(items: Any) -> bool:
    """Whether it has what is used here."""
    return all(hasattr(items, name) for name in ("to_dicts", "get_columns"))


def _read_polars(frame: Any) -> list[Column]:
    """The columns as they stand."""
    return [Column(name=series.name, cells=_polars_cells(series)) for series in frame.get_columns()]


def _polars_cells(series: Any) -> Any:
    """The series' values; vectors of one length as the rows of one array."""
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
    """Whether it has what is used here; a reader gives such a table first."""
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
    """The columns as they stand. Raises `BadInput` where Python has no value for a cell."""
    if hasattr(table, "read_all"):
        table = table.read_all()
    names = [field.name for field in table.schema]
    return [
        Column(name=name, cells=_arrow_cells(name, table.column(place)))
        for place, name in enumerate(names)
    ]


def _arrow_cells(name: str, column: Any) -> Any:
    """The column's values; vectors of one length as the rows of one array."""
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
    """The values; maps as mappings, for which older releases of pyarrow have no option."""
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
    """The rows of a column of fixed-size lists; None where a number is missing."""
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
