"""Options of the commands, spelled once: those of `assemble`, and what other commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foveate.cli.completion import names

STORE = Path(".foveate")
"""Where `index` puts its store and `search` looks for one when neither is told."""

Query = Annotated[str, typer.Option("--query", metavar="Q", help="The question.")]
Chunks = Annotated[
    str | None,
    typer.Option("--chunks", metavar="FILE", help="Candidates as JSON Lines; - is stdin."),
]
FromStore = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="Retrieve them from this store instead."),
]
RecipeName = Annotated[
    str,
    typer.Option(
        "--recipe",
        metavar="R",
        help="A recipe's name, or a TOML file.",
        autocompletion=names("recipes"),
    ),
]
Tokens = Annotated[
    int | None,
    typer.Option("--budget", metavar="N", help="Tokens for the context [the recipe's]."),
]
TokenizerName = Annotated[
    str | None,
    typer.Option(
        "--tokenizer",
        metavar="T",
        help="What counts them [the recipe's].",
        autocompletion=names("tokenizers"),
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="M", help="Take its tokenizer and its window instead."),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="F",
        help="Another format than the recipe's.",
        autocompletion=names("formats"),
    ),
]
OrderName = Annotated[
    str | None, typer.Option("--order", metavar="O", help="Another order than the recipe's.")
]
ShortenerName = Annotated[
    str | None,
    typer.Option(
        "--shortener",
        metavar="M",
        help="A model to ask for shorter versions, where the recipe wants them: openai:MODEL, …",
    ),
]
Principals = Annotated[
    list[str] | None,
    typer.Option(
        "--principal",
        metavar="P",
        help="Who asks; once for each. What is restricted to others is never seen.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Say on stderr what happened to every chunk, and why.")
]
Bundle = Annotated[
    str | None,
    typer.Option("--bundle", metavar="FILE", help="Write all that `foveate replay` needs."),
]
EngineName = Annotated[str, typer.Option("--engine", metavar="local|ray", help="What runs it.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        "--jobs",
        metavar="N",
        help="How many at a time [local: 1, ray: the processors].",
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option("--address", metavar="A", help="A Ray cluster [one of this machine's own]."),
]
LimitsGiven = Annotated[
    list[str] | None,
    typer.Option(
        "--limit", metavar="NAME=N", help="A bound on one file, e.g. pages=9000; once for each."
    ),
]
Readers = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "--workers",
        metavar="N",
        min=1,
        help="Processes that read files [one for each 32 files, up to the cores and 8].",
    ),
]
TaxonomyFile = Annotated[
    Path | None,
    typer.Option(
        "--taxonomy", metavar="FILE.toml", help="Side knowledge, where retrieval is not enough."
    ),
]
