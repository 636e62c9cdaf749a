"""What `foveate assemble-batch` does, once its flags are read: run the partitions, and report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

from foveate.batch.engines import check_engine, open_engine
from foveate.batch.partitions import FileAccess, partitions
from foveate.batch.run import Report, run_partitions
from foveate.cli import output
from foveate.cli.failures import INPUT, OUTSIDE, single_line
from foveate.cli.files import open_output, read_lines, refuse_same_file
from foveate.cli.output import progress_bar
from foveate.core.errors import BadInput, ExternalError

FILES = FileAccess(read_lines=read_lines, open_atomic=open_output)


def run_batch(
    requests: str,
    contexts: str,
    *,
    engine: str,
    workers: int | None,
    address: str | None,
    anew: bool,
) -> Report:
    """Answer the requests; a single file that fails raises, one of a folder is reported."""
    check_engine(engine, workers, address)
    refuse_same_file(requests, contexts)
    found = partitions(requests, contexts)
    with open_engine(engine, workers, address) as fleet, progress_bar() as on_progress:
        report = run_partitions(found, fleet, FILES, anew=anew, on_progress=on_progress)
    alone = found[0].note_path is None
    for failure in report.failed if alone else ():
        if failure.outside:
            raise ExternalError(f"{failure.partition}: {failure.reason}; run again")
        raise BadInput(failure.reason)
    return report


def print_report(report: Report, *, as_json: bool) -> int:
    """Print the report, as JSON on stdout or in words on stderr; the exit code."""
    if as_json:
        output.write_json(asdict(report))
    else:
        sys.stderr.writelines(f"{line}\n" for line in _report_lines(report))
    if any(failure.outside for failure in report.failed):
        return OUTSIDE
    return INPUT if report.failed else 0


def _report_lines(report: Report) -> Iterator[str]:
    counts = f"{report.contexts} contexts, {report.refused} refused"
    of = [f"{report.unchanged} unchanged"] if report.unchanged else []
    of += [f"{len(report.failed)} failed"] if report.failed else []
    many = report.partitions + report.unchanged + len(report.failed) > 1
    parts = f" in {report.partitions} partitions" if many or of else ""
    yield ", ".join([f"{counts}{parts}", *of])
    for failure in report.failed:
        yield single_line(f"failed: {failure.partition}: {failure.reason}")
    for name in report.left_over:
        yield single_line(
            f"left over: {name} has no requests any more; delete it if it is not needed"
        )
