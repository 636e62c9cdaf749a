"""`foveate assemble-batch`: many requests in a file, and what is said of a finished run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from foveate.cli import output
from foveate.cli.failures import BUDGET, INPUT, OUTSIDE
from foveate.cli.options import EngineName, Json, RayAddress, Workers, option

if TYPE_CHECKING:
    from foveate.batch.run import Report


def assemble_batch(
    *,
    requests: Annotated[str, option("REQUESTS", "A JSON Lines file, or -.", "--in")],
    contexts: Annotated[str, option("CONTEXTS", "The same kind; - is stdout.", "--out")],
    engine: EngineName = "local",
    workers: Workers = None,
    address: RayAddress = None,
    as_json: Json = False,
) -> None:
    """Assemble many requests from a file. Answers come in the same order.

    A request is {"id","query","chunks":[...],"budget","recipe"}, with other options of assemble
    if wanted, such as "tokenizer", "format", "language" and "principals". An answer is the "id"
    with the output of assemble --json. A refused request gives {"id","error":{"type","message"}},
    and the others continue. A line holds one request. If all are refused, the exit code is 4 where
    only budgets were too small, else 3. If a request killed each worker that tried it, it is 5.
    """
    from foveate.batch.engines import check_engine, open_engine
    from foveate.batch.run import answer_requests
    from foveate.cli import files

    if as_json and contexts == "-":
        raise typer.BadParameter("--json and --out - both want stdout; give --out a file")
    check_engine(engine, workers, address)
    files.refuse_same_file(requests, contexts)
    lines = files.read_lines(requests)
    with open_engine(engine, workers, address) as fleet, output.progress_bar() as advance:

        def on_progress(done: int) -> None:
            if advance is not None:
                advance(done, done, requests)

        with files.open_output(contexts) as file:
            report = answer_requests(lines, fleet, file.write, on_progress=on_progress)
    if as_json:
        output.write_json(asdict(report))
    else:
        sys.stderr.writelines(f"{line}\n" for line in _report_lines(report))
    if code := _exit_code(report):
        raise typer.Exit(code)


def _exit_code(report: Report) -> int:
    if report.lost:
        return OUTSIDE
    if report.contexts or not report.refused:
        return 0
    return BUDGET if report.too_small == report.refused else INPUT


def _report_lines(report: Report) -> Iterator[str]:
    lost = f", {report.lost} of them lost with their workers" if report.lost else ""
    yield f"{report.contexts} contexts, {report.refused} refused{lost}"
    if report.refused and not report.contexts:
        yield "none was assembled; the answer to each request says why"
