"""An Arrow table, a batch of one, a reader, or a C stream → columns."""

from __future__ import annotations

from typing import Any

from foveate.core.errors import BadInput, MissingExtra
from foveate.pipeline.tables.cells import VECTOR_COLUMN, Column, mapping_from_pairs


def is_table(items: Any) -> bool:
    """Whether it has what is used here; a reader gives such a table first."""
    names = ("schema", "to_pylist", "column")
    reader = hasattr(items, "schema") and hasattr(items, "read_all")
    return reader or all(hasattr(items, name) for name in names)


def table_from_stream(stream: Any) -> Any:
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


def read_columns(table: Any) -> list[Column]:
    """The columns as they stand. Raises `BadInput` where Python has no value for a cell."""
    if hasattr(table, "read_all"):
        table = table.read_all()
    names = [field.name for field in table.schema]
    return [
        Column(name=name, cells=_read_cells(name, table.column(place)))
        for place, name in enumerate(names)
    ]


def _read_cells(name: str, column: Any) -> Any:
    """The column's values; vectors of one length as the rows of one array."""
    if name == VECTOR_COLUMN and hasattr(column.type, "list_size") and column.null_count == 0:
        vectors = _read_vectors(column)
        if vectors is not None:
            return vectors
    try:
        return _list_values(column)
    except (ValueError, KeyError, OverflowError, TypeError, NotImplementedError) as error:
        message = f"the column ({column.type}) holds what cannot be read: {_short_error(error)}"
        raise BadInput(f"{message}; cast it, or drop it", field=name) from None


def _list_values(column: Any) -> list[Any]:
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


def _read_vectors(column: Any) -> list[Any] | None:
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
