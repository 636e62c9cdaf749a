"""`foveate assemble-batch`: requests from a file or a folder of partitions, contexts to another."""

from __future__ import annotations

from typing import Annotated

import typer

from foveate.cli.options import EngineName, Json, RayAddress, Workers


def assemble_batch(
    *,
    requests: Annotated[
        str,
        typer.Option(
            "--in", metavar="REQUESTS", help="A .jsonl or .parquet file, a folder of them, or -."
        ),
    ],
    contexts: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="CONTEXTS",
            help="The same kinds; - is stdout. A missing folder is created.",
        ),
    ],
    engine: EngineName = "local",
    workers: Workers = None,
    address: RayAddress = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Answer all partitions again, finished ones too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Assemble many requests from a file. Answers come in the same order.

    A request is {"id","query","chunks":[...],"budget","recipe"} with optional "tokenizer",
    "model", "format", "order", "principals" and "messages". An answer is the "id" with the output
    of assemble --json. A refused request gives {"id","error":{"type","message"}}, and the others
    continue. JSON Lines has one request a line. Parquet has one a row: a column "request" with
    JSON, or columns with these names.

    If REQUESTS is a folder, each file is a partition, and its answers are a file of the same name.
    A finished partition is skipped the next time. A partition that cannot be read (exit code 3),
    or whose worker died four times (5), is reported, and the others continue.
    """
    from foveate.cli.batch_run import print_report, run_batch

    if as_json and contexts == "-":
        raise typer.BadParameter("--json and --out - both want stdout; give --out a file")
    report = run_batch(
        requests, contexts, engine=engine, workers=workers, address=address, anew=anew
    )
    if code := print_report(report, as_json=as_json):
        raise typer.Exit(code)
