"""What a caller's retriever found, whatever it is called there → candidates."""

from __future__ import annotations

from typing import Any

from foveate.core.candidates import BestFirst, candidates_from_items
from foveate.core.types import Candidate
from foveate.pipeline import tables
from foveate.pipeline.documents import records_from_items


def candidates_of(items: Any) -> tuple[Candidate, ...]:
    """Candidates, mappings, a framework's documents, or a table's rows, in the given order.

    A table: a pandas or polars DataFrame, an Arrow table, batch or reader, or anything that hands
    out Arrow's C stream. If nothing in it has a score, its order becomes the score.
    Raises `BadInput` naming the position (counted from 1, as `line`) and the field.
    """
    if isinstance(items, BestFirst):
        return items
    rows = tables.rows_from_table(items)
    return candidates_from_items(records_from_items(items) if rows is None else rows)
