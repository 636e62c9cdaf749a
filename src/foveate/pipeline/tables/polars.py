"""A polars DataFrame → columns."""

from __future__ import annotations

from typing import Any

from foveate.core.errors import BadInput
from foveate.pipeline.tables.cells import VECTOR_COLUMN, Column


def is_table(items: Any) -> bool:
    """Whether it has what is used here."""
    return all(hasattr(items, name) for name in ("to_dicts", "get_columns"))


def read_columns(frame: Any) -> list[Column]:
    """The columns as they stand."""
    return [Column(name=series.name, cells=_read_cells(series)) for series in frame.get_columns()]


def _read_cells(series: Any) -> Any:
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
