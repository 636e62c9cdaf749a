"""How much of the evidence `default` shows: the figures that tests/promises holds it to.

    python -m bench.evidence           print the means over the sets, beside the recorded ones
    python -m bench.evidence --write   record them: figures alone, no texts

Three groups: `own` are the golden cases of the tests, at small budgets; `sample` is every n-th
question of each set of FOVEATE_DATA; `whole` is all of them.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from foveate.core.manifest import digest
from foveate.evals.cases import Case
from foveate.evals.read import read_cases
from foveate.evals.run import run
from foveate.evals.trials import build_setting

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "tests" / "promises" / "evidence.json"
OWN = ROOT / "tests" / "golden" / "evals" / "cases.jsonl"
DATA = Path(os.environ.get("FOVEATE_DATA") or ROOT.parent / "shared" / "data") / "dev"
BUDGETS = (500, 1_000, 2_000, 4_000)
"""Tokens of a context in `sample` and `whole`."""
OWN_BUDGETS = (40, 70, 100, 200)
SAMPLED = 16
"""Questions of a set in `sample`."""

Figures = dict[str, dict[str, Any]]
"""For each set its number of `cases`, their `hash`, and mean recall by budget."""


def groups(data: Path = DATA) -> dict[str, list[tuple[Case, ...]]]:
    """The questions of each group, set by set; `own` alone where the data is not there."""
    sets = [read_cases([str(path)]) for path in sorted(data.glob("*.jsonl.gz"))]
    own = [read_cases([str(OWN)])]
    if not sets:
        return {"own": own}
    sampled = [several[:: max(1, len(several) // SAMPLED)][:SAMPLED] for several in sets]
    return {"own": own, "sample": sampled, "whole": sets}


def figures(sets: Sequence[Sequence[Case]], budgets: Sequence[int], *, jobs: int = 1) -> Figures:
    """The mean recall of `default`, by set and budget."""
    setting, label = build_setting(["default"], budgets, baseline="default")
    found: Figures = {}
    for cases in sets:
        rows = [row for row in run(cases, setting, jobs=jobs) if row.recipe == label]
        found[cases[0].dataset] = {
            "cases": len(cases),
            "hash": digest("".join(case.hash for case in cases)),
            **{
                str(budget): round(
                    fmean(row.measures["recall"] or 0 for row in rows if row.budget == budget), 5
                )
                for budget in budgets
            },
        }
    return found


def means(found: Figures, budgets: Sequence[int]) -> dict[int, float]:
    """The mean over the sets, by budget."""
    return {budget: fmean(one[str(budget)] for one in found.values()) for budget in budgets}


def recorded() -> Mapping[str, Figures]:
    """The figures on record, by group."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def budgets_of(group: str) -> tuple[int, ...]:
    """The budgets at which a group is measured."""
    return OWN_BUDGETS if group == "own" else BUDGETS


def main() -> None:
    """Measure every group; print, and record if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    before = recorded() if RECORDED.exists() else {}
    made = {
        group: figures(sets, budgets_of(group), jobs=asked.jobs) for group, sets in groups().items()
    }
    for group, found in made.items():
        for budget, mean in means(found, budgets_of(group)).items():
            was = means(before[group], budgets_of(group))[budget] if group in before else mean
            print(f"{group:6} {budget:5} tokens: {mean:.4f}, recorded {was:.4f}")
    if asked.write:
        RECORDED.write_text(json.dumps({**before, **made}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
