"""Rows of results: what one recipe at one budget gives for one question."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from foveate.evals.measures import Measures
from foveate.stores.atomic_write import atomic_write


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The measures of one trial on one case.

    `failed`: empty, or why there was no context, which counts as an empty one. `hygiene`: the
    faults that the context has, by their names.
    """

    dataset: str
    id: str
    recipe: str
    budget: int
    failed: str
    measures: Measures
    hygiene: Mapping[str, int] = field(default_factory=dict)


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """A line of JSON for each row, one flat object; the file changes all at once."""
    with atomic_write(path) as file:
        for row in rows:
            plain = asdict(row)
            measures = plain.pop("measures")
            file.write(json.dumps(plain | measures, ensure_ascii=False).encode() + b"\n")
