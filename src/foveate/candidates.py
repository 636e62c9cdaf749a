"""What a caller's retriever found, whatever it is called there → candidates."""

from __future__ import annotations

from typing import Any

from foveate.adapters import tables
from foveate.adapters.frameworks import records
from foveate.core.candidates import candidates_from
from foveate.core.types import Candidate


def candidates_of(items: Any) -> tuple[Candidate, ...]:
    """Candidates, mappings, a framework's documents, or a table's rows, in the given order.

    A table: a pandas or polars DataFrame, an Arrow table, batch or reader, or anything that hands
    out Arrow's C stream. Raises `BadInput` naming the position (counted from 1, as `line`) and the
    field.
    """
    rows = tables.rows(items)
    return candidates_from(records(items) if rows is None else rows)
