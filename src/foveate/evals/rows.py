"""Rows of results: what one recipe at one budget gives for one question, as a context or answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from foveate.stores.atomic_write import atomic_write


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The measures of one trial on one case, by their names; None: it has no such value.

    `failed`: empty, or why there was no context, which counts as an empty one, or no answer.
    """

    dataset: str
    id: str
    recipe: str
    budget: int
    failed: str
    measures: Mapping[str, float | None]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """A line of JSON for each row, one flat object; the file changes all at once."""
    with atomic_write(path) as file:
        for row in rows:
            plain = {f.name: getattr(row, f.name) for f in fields(row) if f.name != "measures"}
            file.write(json.dumps({**plain, **row.measures}, ensure_ascii=False).encode() + b"\n")
