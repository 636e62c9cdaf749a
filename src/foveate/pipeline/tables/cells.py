"""A cell of a table as Python's own value: the same whichever library it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

SCORE_COLUMNS = ("score", "semantic_score", "lexical_score", "rerank_score")
VECTOR_COLUMN = "embedding"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's name and its cells, top to bottom; `gaps`: a NaN in it is a cell left empty."""

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
    return float(cell) if column.name in SCORE_COLUMNS and isinstance(cell, Decimal) else cell


def mapping_from_pairs(cell: list[Any]) -> Any:
    """Pandas' way to hold a map of Arrow's, a list of pairs, as a mapping; else as it is.

    Raises `ValueError` where a key comes twice.
    """
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
    """A time of pandas' as one of Python's, to the microsecond; None where it is none at all."""
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
