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
            "--out", metavar="CONTEXTS", help="The same; - is stdout. A folder is made if need be."
        ),
    ],
    engine: EngineName = "local",
    workers: Workers = None,
    address: RayAddress = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Also the partitions that were done before.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Assemble many requests from a file. Answers come in the same order.

    A request: {"id","query","chunks":[...],"budget","recipe"}, and as needed "tokenizer",
    "model", "format", "order", "principals", "messages". An answer: "id" and what assemble
    --json prints. A request that is refused gives {"id","error":{"type","message"}} and the
    rest go on. JSON Lines has one a line, Parquet one a row: a column "request" with JSON, or
    columns with these names.

    Of a folder each file is a partition, and its answers a file of the same name. What is done is
    left alone the next time. A partition that cannot be read (exit code 3), or whose worker died
    four times (5), is reported; the rest go on.
    """
    from foveate.cli.batch_run import print_report, run_batch

    if as_json and contexts == "-":
        raise typer.BadParameter("--json and --out - both want stdout; give --out a file")
    report = run_batch(
        requests, contexts, engine=engine, workers=workers, address=address, anew=anew
    )
    if code := print_report(report, as_json=as_json):
        raise typer.Exit(code)
