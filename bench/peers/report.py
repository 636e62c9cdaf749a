"""The report of a run: tables and plots in the documentation, a summary for machines.

    python -m bench.peers.report            the full run → docs, bench/results
    python -m bench.peers.report --quick    the checks of a quick run; writes nothing

Rewrites what stands between the marks in docs/benchmarks.md, draws docs/figures/speed-*.svg and
prints the checks.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.peers import tables
from bench.peers.figures import Figure, Key, figures, newest, plain
from bench.peers.judge import judge
from bench.peers.plots import draw
from bench.peers.run import QUICK, RESULTS, read
from bench.peers.targets import Check, checks
from bench.peers.workload import Workload, load, make

PAGE = Path("docs/benchmarks.md")
FIGURES = Path("docs/figures")
SUMMARY = Path("bench/results/peers.json")
BEGIN, END = "<!-- speed: begin -->", "<!-- speed: end -->"
COMMAND = "`python -m bench.peers.run && python -m bench.peers.report`"
MEASURED = "Measured by " + COMMAND + "."
AT = 1_000  # the size whose steps are shown


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
        section("CPU time relative to the floor", "CPU time divided by that of `floor_full`, "
                f"budget {small:,}.",
                tables.ratios(found, small, "floor_full")),
        section("Checks", "Targets for foveate, with the measured values.",
                verdicts(checks(found))),
        "![CPU time over the number of candidates](figures/speed-time.svg)\n",
        "![Memory over the number of candidates](figures/speed-memory.svg)\n",
    ]  # fmt: skip
    for budget in budgets:
        parts += [
            section(f"CPU time, budget {budget:,}", "CPU milliseconds on one machine, median "
                    "(90th percentile).", tables.cpu(found, budget)),
        ]  # fmt: skip
    parts += [
        section("Memory", f"The most memory that a run adds, in MB, budget {small:,}.",
                tables.memory(found, small)),
        section("First run and conversion", "CPU milliseconds of the first run in a process, plus "
                "the time to convert the candidates to the system's own types, which no other "
                "figure includes.", tables.first(found, small)),
        section("CPU time by step", f"Budget {small:,}.", tables.steps(found, AT, small)),
        section("Defects in this run", "Totals over all sizes and budgets.",
                tables.defects(found)),
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
    rows = newest(read(QUICK if quick else RESULTS))
    if not rows:
        print("no results yet; run: python -m bench.peers.run", file=sys.stderr)
        return 1
    found = figures(rows, judging())
    if not quick:
        publish(found, rows[-1])
    for check in checks(found):
        print(
            f"{'met    ' if check.met else 'NOT MET'}  {check.what}: {check.figure} ({check.limit})"
        )
    return 0


def publish(found: Mapping[Key, Figure], row: Mapping[str, Any]) -> None:
    """The summary, the page, the plots."""
    about = row["machine"]
    SUMMARY.parent.mkdir(parents=True, exist_ok=True)
    summary = {"machine": about, "code": row["code"], "figures": plain(found)}
    SUMMARY.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    page = placed(PAGE.read_text(encoding="utf-8"), generated(found, about))
    PAGE.write_text(page, encoding="utf-8")
    draw(summary["figures"], FIGURES)


if __name__ == "__main__":
    sys.exit(main())
