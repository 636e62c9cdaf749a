"""Tables of pandas, polars and Arrow, and of all that hands out Arrow's C stream → rows.

Told apart by what they can do, so that nothing of theirs is imported: whoever hands a table over
has it. A column is a field of a candidate by its name (SPEC I2) or by a name
that other systems give it, any other goes to the metadata.
Rows keep their order.

What is missing in a row: a null; and in pandas, which writes them so, NaN, NaT and NA, but never in
`score`, for a score that is NaN is refused, and so is a row without one where others have it.
Everywhere else NaN is a number that is none, and is refused where a field must be one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foveate.core.errors import BadInput
from foveate.core.record_keys import TEXT_KEYS
from foveate.pipeline.tables import arrow, pandas, polars
from foveate.pipeline.tables.cells import Column, parse_cell

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
    if pandas.is_table(items):
        return pandas.read_columns(items)
    if polars.is_table(items):
        return polars.read_columns(items)
    if arrow.is_table(items):
        return arrow.read_columns(items)
    if hasattr(items, "__arrow_c_stream__"):
        return arrow.read_columns(arrow.table_from_stream(items))
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
