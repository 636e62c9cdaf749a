"""A pandas DataFrame, or what behaves as one, → columns; index levels with a name are columns."""

from __future__ import annotations

from typing import Any

from foveate.pipeline.tables.cells import Column


def is_table(items: Any) -> bool:
    """Whether it has what is used here."""
    return all(hasattr(items, name) for name in ("iterrows", "iloc", "columns"))


def read_columns(frame: Any) -> list[Column]:
    """The named levels of the index, then the columns, by their places: names may come twice."""
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
