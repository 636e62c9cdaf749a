"""`foveate assemble-batch`: many requests in files, and what is said of a finished run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from foveate.cli import output
from foveate.cli.failures import BUDGET, INPUT, OUTSIDE, single_line
from foveate.cli.options import EngineName, Json, RayAddress, Workers, flag, option
from foveate.core.errors import BadInput, ExternalError

if TYPE_CHECKING:
    from foveate.batch.run import Report


def assemble_batch(
    *,
    requests: Annotated[str, option("REQUESTS", "A .jsonl file, a folder of them, or -.", "--in")],
    contexts: Annotated[
        str, option("CONTEXTS", "The same kind; - is stdout. A missing folder is created.", "--out")
    ],
    engine: EngineName = "local",
    workers: Workers = None,
    address: RayAddress = None,
    redo: Annotated[
        bool, flag("Answer all partitions again, finished ones too.", "--anew")
    ] = False,
    as_json: Json = False,
) -> None:
    """Assemble many requests from a file. Answers come in the same order.

    A request is {"id","query","chunks":[...],"budget","recipe"}, with other options of assemble
    if wanted, such as "tokenizer", "format", "language" and "principals". An answer is the "id"
    with the output of assemble --json. A refused request gives {"id","error":{"type","message"}},
    and the others continue. A line holds one request. If all are refused, the exit code is 4 where
    only budgets were too small, else 3.

    If REQUESTS is a folder, each file is a partition, and its answers are a file of the same name.
    A finished partition is skipped the next time. A partition that cannot be read (exit code 3),
    or whose worker died four times (5), is reported, and the others continue.
    """
    from foveate.batch.engines import check_engine, open_engine
    from foveate.batch.partitions import FileAccess, partitions
    from foveate.batch.run import run_partitions
    from foveate.cli import files

    if as_json and contexts == "-":
        raise typer.BadParameter("--json and --out - both want stdout; give --out a file")
    check_engine(engine, workers, address)
    files.refuse_same_file(requests, contexts)
    found = partitions(requests, contexts)
    access = FileAccess(read_lines=files.read_lines, open_atomic=files.open_output)
    with open_engine(engine, workers, address) as fleet, output.progress_bar() as on_progress:
        report = run_partitions(found, fleet, access, redo=redo, on_progress=on_progress)
    if found[0].note_path is None:
        _raise_failure(report)
    if code := _print_report(report, as_json=as_json):
        raise typer.Exit(code)


def _raise_failure(report: Report) -> None:
    """Raise for a single file that failed; one of a folder is reported."""
    for failure in report.failed:
        if failure.outside:
            raise ExternalError(f"{failure.partition}: {failure.reason}; run again")
        raise BadInput(failure.reason)


def _print_report(report: Report, *, as_json: bool) -> int:
    """Print the report, as JSON on stdout or in words on stderr; the exit code."""
    from dataclasses import asdict

    if as_json:
        output.write_json(asdict(report))
    else:
        sys.stderr.writelines(f"{line}\n" for line in _report_lines(report))
    if any(failure.outside for failure in report.failed):
        return OUTSIDE
    if report.failed:
        return INPUT
    if not _none_was_assembled(report):
        return 0
    return BUDGET if report.in_all("too_small") == report.in_all("refused") else INPUT


def _none_was_assembled(report: Report) -> bool:
    """Whether all requests are refused, those of a run before included."""
    return report.in_all("refused") > 0 and not report.in_all("contexts")


def _report_lines(report: Report) -> Iterator[str]:
    counts = f"{report.contexts} contexts, {report.refused} refused"
    of = [f"{report.unchanged} unchanged"] if report.unchanged else []
    of += [f"{len(report.failed)} failed"] if report.failed else []
    many = report.partitions + report.unchanged + len(report.failed) > 1
    parts = f" in {report.partitions} partitions" if many or of else ""
    yield ", ".join([f"{counts}{parts}", *of])
    if _none_was_assembled(report):
        yield "none was assembled; the answer to each request says why"
    for failure in report.failed:
        yield single_line(f"failed: {failure.partition}: {failure.reason}")
    for name in report.left_over:
        yield single_line(
            f"left over: {name} has no requests any more; delete it if it is not needed"
        )
