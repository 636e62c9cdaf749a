"""`foveate assemble-batch`: requests from a file, contexts to a file, one JSON object a line."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Annotated

import typer

from foveate.cli.options import Json
from foveate.core.errors import BadOption

ENGINES = ("local",)
ELSEWHERE = ("ray",)
"""Engines that are known by name and are not in this version."""


def assemble_batch(
    requests: Annotated[
        str, typer.Option("--in", metavar="REQUESTS.jsonl", help="One request a line; - is stdin.")
    ],
    contexts: Annotated[
        str, typer.Option("--out", metavar="CONTEXTS.jsonl", help="One answer a line; - is stdout.")
    ],
    engine: Annotated[
        str, typer.Option("--engine", metavar="local", help="What runs them: local.")
    ] = "local",
    as_json: Json = False,
) -> None:
    """Assemble many requests from a file. Answers come in the same order.

    A request: {"id","query","chunks":[...],"budget","recipe"}, and as needed "tokenizer",
    "model", "format", "order", "principals", "messages". An answer: "id" and what assemble
    --json prints. A request that is refused gives {"id","error":{"type","message"}} and the
    rest go on.
    """
    _check_engine(engine)
    if as_json and contexts == "-":
        raise typer.BadParameter("--json and --out - both want stdout; give --out a file")
    from foveate.batch import answers
    from foveate.cli import output
    from foveate.cli.files import raw_lines, refuse_same, written

    refuse_same(requests, contexts)
    done: Counter[str] = Counter()
    with written(contexts) as file:
        for answer in answers(raw_lines(requests)):
            done["refused" if "error" in answer else "contexts"] += 1
            file.write(f"{output.as_json(answer)}\n".encode())
    report = {"contexts": done["contexts"], "refused": done["refused"]}
    if as_json:
        output.write_json(report)
    else:
        sys.stderr.write(f"{report['contexts']} contexts, {report['refused']} refused\n")


def _check_engine(engine: str) -> None:
    if engine in ELSEWHERE:
        raise BadOption(
            f"engine {engine!r} is not in this version; available: {', '.join(ENGINES)}"
        )
    if engine not in ENGINES:
        from foveate.core.errors import UnknownName

        raise UnknownName("engine", engine, ENGINES)
