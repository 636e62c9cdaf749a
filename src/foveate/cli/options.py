"""Options that several commands have, spelled once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

STORE = Path(".foveate")
"""Where `index` puts its store and `search` looks for one when neither is told."""

Query = Annotated[str, typer.Option("--query", metavar="Q", help="The question.")]
Principals = Annotated[
    list[str] | None,
    typer.Option(
        "--principal",
        metavar="P",
        help="Who asks; once for each. What is restricted to others is never seen.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
