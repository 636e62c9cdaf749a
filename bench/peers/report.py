"""The report of a run: the tables in the documentation.

    python -m bench.peers.report            the full run → docs
    python -m bench.peers.report --quick    the checks of a quick run; writes nothing

Rewrites what stands between the marks in docs/benchmarks.md and prints the checks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.peers import tables
from bench.peers.figures import Figure, Key, figures
from bench.peers.judge import judge
from bench.peers.run import QUICK, RESULTS, read
from bench.peers.targets import Check, checks
from bench.peers.workload import Workload, load, make

PAGE = Path("docs/benchmarks.md")
BEGIN, END = "<!-- speed: begin -->", "<!-- speed: end -->"
COMMAND = "`python -m bench.peers.run && python -m bench.peers.report`"
MEASURED = "Measured by " + COMMAND + "."


def judging() -> Callable[[dict[str, Any]], Mapping[str, Any]]:
    """Judges a line of results; each workload is loaded once."""
    held: dict[int, Workload] = {}

    def judged(row: dict[str, Any]) -> Mapping[str, Any]:
        if row["n"] not in held:
            make([row["n"]])
            held[row["n"]] = load(row["n"])
        return judge(row["text"], held[row["n"]], row["budget"])

    return judged


def generated(found: Mapping[Key, Figure], about: Mapping[str, Any]) -> str:
    """All that is written by the run."""
    budgets = sorted({budget for _, _, budget in found})
    small = budgets[0]
    parts = [
        _where(about),
        section("CPU time relative to `foveate_cold`", "CPU time divided by that of "
                f"`foveate_cold`, budget {small:,}. A value under 1 is faster than foveate.",
                tables.ratios(found, small, "foveate_cold")),
        section("Checks", "Targets for foveate, with the measured values.",
                verdicts(checks(found))),
    ]  # fmt: skip
    for budget in budgets:
        parts += [
            section(f"CPU time, budget {budget:,}", "CPU milliseconds on one machine, median "
                    "(90th percentile).", tables.cpu(found, budget)),
        ]  # fmt: skip
    parts += [
        section("Memory", f"The most memory that a run adds, in MB, budget {small:,}.",
                tables.memory(found, small)),
    ]  # fmt: skip
    for budget in budgets:
        parts.append(
            section(f"Output quality, budget {budget:,}", "Judged from the final text alone.",
                    tables.quality(found, budget))
        )  # fmt: skip
    return "\n".join(parts)


def section(title: str, what: str, body: str) -> str:
    """A heading, what is shown and how it was made, the table."""
    return f"### {title}\n\n{what} {MEASURED}\n\n{body}"


def _where(about: Mapping[str, Any]) -> str:
    cores = f"{about['cores']} cores, shared" if about.get("cores") else "unknown cores"
    return (
        f"Python {about['python']} on {about['system']} {about['machine']} ({cores}). "
        "Absolute times apply to this machine only; ratios compare systems within this run.\n"
    )


def verdicts(found: Sequence[Check]) -> str:
    """The checks as a table."""
    rows = [(c.what, c.limit, c.figure, "met" if c.met else "**not met**") for c in found]
    return tables.table(("what", "asked", "measured", ""), rows)


def placed(page: str, body: str) -> str:
    """The page with the body between its marks."""
    before, rest = page.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    return f"{before}{BEGIN}\n\n{body}\n{END}{after}"


def main() -> int:
    """Write everything; 1 where there is nothing to report."""
    quick = "--quick" in sys.argv[1:]
    rows = read(QUICK if quick else RESULTS)
    if not rows:
        print("no results yet; run: python -m bench.peers.run", file=sys.stderr)
        return 1
    found = figures(rows, judging())
    if not quick:
        page = PAGE.read_text(encoding="utf-8")
        body = generated(found, rows[-1]["machine"])
        PAGE.write_text(placed(page, body), encoding="utf-8")
    for check in checks(found):
        print(
            f"{'met    ' if check.met else 'NOT MET'}  {check.what}: {check.figure} ({check.limit})"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
