"""What `foveate assemble-batch` says of a finished run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

from foveate.batch.run import Report
from foveate.cli import output
from foveate.cli.failures import BUDGET, INPUT, OUTSIDE, single_line
from foveate.core.errors import BadInput, ExternalError


def raise_failure(report: Report) -> None:
    """Raise for a single file that failed; one of a folder is reported."""
    for failure in report.failed:
        if failure.outside:
            raise ExternalError(f"{failure.partition}: {failure.reason}; run again")
        raise BadInput(failure.reason)


def print_report(report: Report, *, as_json: bool) -> int:
    """Print the report, as JSON on stdout or in words on stderr; the exit code."""
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
