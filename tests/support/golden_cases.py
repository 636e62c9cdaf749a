"""Golden cases of our own writing in six languages, and what the reference measures on them.

`golden/evals/expected.json` was computed by the reference implementation of the measures, which
comes with the evaluation data, on contexts put together by hand from these cases.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foveate.evals.cases import Case
from foveate.evals.read import read_cases

FOLDER = Path(__file__).parents[1] / "golden" / "evals"
FILE = FOLDER / "cases.jsonl"


def records() -> list[dict[str, Any]]:
    """The cases as they stand in their file."""
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def cases() -> tuple[Case, ...]:
    """The cases as they are read."""
    return read_cases([str(FILE)])


def expected() -> list[dict[str, Any]]:
    """Contexts and what the reference measures on them."""
    return json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]
