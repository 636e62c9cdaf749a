"""Fit the weights of the default to golden cases, and try them on sets they were not fitted to.

    python -m tools.fit FOLDER              prints the tables; some six minutes
    python -m tools.fit FOLDER --docs CMD   also writes docs/cross-validation.md and its JSON
    python -m tools.fit FOLDER --scores given,oracle,noisy:0.6   fits over score variants, too

FOLDER holds `*.jsonl.gz`, two families of sets or more. CMD is the command that is shown beside
the figures. The tables are written to build/fit too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tools.evaluation import placed
from tools.fit.folds import families, fits, tried
from tools.fit.page import body, figures
from tools.fit.units import gather

from foveate.core.errors import FoveateError
from foveate.evals.read import read_cases
from foveate.evals.scores import rescore_cases

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "cross-validation.md"
FIGURES = ROOT / "docs" / "figures" / "cross-validation.json"
STEP = 20  # seconds between two lines of progress


class Told:
    """Says how far a part is, now and then and at its end."""

    def __init__(self, part: str) -> None:
        self._part, self._last = part, time.monotonic()

    def __call__(self, done: int, total: int, what: str) -> None:
        """One line, where the last one is long enough ago."""
        now = time.monotonic()
        if done < total and now - self._last < STEP:
            return
        self._last = now
        print(f"{self._part}: {done:,} of {total:,} ({what})", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Gather, fit, try, report; 2 where the cases cannot be used."""
    given = _options(arguments)
    try:
        cases = rescore_cases(
            read_cases([str(given.folder / "*.jsonl.gz")]), given.scores.split(",")
        )
    except FoveateError as error:
        print(error, file=sys.stderr)
        return 2
    if len(families([case.dataset for case in cases])) < 2:
        print("one family of sets alone; there is nothing to leave out", file=sys.stderr)
        return 2
    units = gather(cases, Told("sentences"))
    found = fits(units, Told("weights"))
    summary = tried(cases, found, Told("contexts"))
    command = given.docs or f"python -m tools.fit {given.folder}"
    text = body(summary, found, command)
    values = json.dumps(figures(summary, found, command), indent=1) + "\n"
    print(text)
    given.work.mkdir(parents=True, exist_ok=True)
    (given.work / "report.md").write_text(text + "\n", encoding="utf-8")
    (given.work / "figures.json").write_text(values, encoding="utf-8")
    if given.docs:
        page = placed(PAGE.read_text(encoding="utf-8"), text)
        PAGE.write_text(page, encoding="utf-8", newline="\n")
        FIGURES.write_text(values, encoding="utf-8", newline="\n")
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools.fit", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="where the golden sets are, *.jsonl.gz")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "fit", help="where the tables go"
    )
    parser.add_argument("--scores", default="given", help="variants of the scores, by comma")
    parser.add_argument("--docs", metavar="CMD", default="", help="write the page, showing CMD")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
