"""The frameworks with and without us on golden questions; the table of docs/frameworks.md.

    python -m bench.frameworks.run FOLDER [--limit N] [--budget 1000] [--write]

FOLDER holds files of golden cases (`*.jsonl.gz`). Time is CPU time of this process, in which only
linear algebra could use a second thread and is told not to; the documents are at hand, no model is
asked. Every side sees the same candidates in the same order, one question after the other; what
foveate remembers of texts is forgotten before each, as if it had never seen them.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, median

for _threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from bench.forget import forget  # noqa: E402
from bench.frameworks.judge import Judged, judged, misled  # noqa: E402
from bench.frameworks.sides import SIDES, forged  # noqa: E402
from bench.page import put_into  # noqa: E402
from foveate.evals.cases import Case  # noqa: E402
from foveate.evals.read import read_cases  # noqa: E402
from foveate.providers import tokenizers  # noqa: E402
from foveate.providers.tokenizers.counts import counts_for  # noqa: E402

PAGE = Path("docs/frameworks.md")
PACKAGES = ("langchain-core", "llama-index-core", "haystack-ai")


def measured(cases: Sequence[Case], budget: int) -> Mapping[str, list[Judged]]:
    """All sides on all cases."""
    tokenizer = tokenizers.load_tokenizer("cl100k_base")
    found: dict[str, list[Judged]] = {name: [] for name in SIDES}
    for case in cases:
        for name, side in SIDES.items():
            run = side(case, budget)
            forget()
            counts_for.cache_clear()
            gc.collect(0)
            begun = time.process_time()
            made = run()
            seconds = time.process_time() - begun
            one = judged(made, case, budget, tokenizer, seconds)
            hostile = side(forged(case, side), budget)()
            found[name].append(replace(one, misled=misled(hostile, case)))
    return found


def table(cases: Sequence[Case], found: Mapping[str, list[Judged]]) -> str:
    """All sets as one, each set weighing the same; then recall set by set."""
    names = list(dict.fromkeys(case.dataset for case in cases))
    rows = {name: [n for n, c in enumerate(cases) if c.dataset == name] for name in names}
    lines = [
        "| | recall | over budget | most tokens | repeated | citations right | misled | CPU ms |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for side, all_ in found.items():
        recall = fmean(fmean(all_[n].recall for n in rows[name]) for name in names)
        repeated = fmean(fmean(all_[n].redundancy for n in rows[name]) for name in names)
        shown = sum(one.shown for one in all_)
        right = sum(one.right for one in all_)
        lines.append(
            f"| {side} | {recall:.3f} | {sum(one.over for one in all_)} of {len(all_)} "
            f"| {max(one.tokens for one in all_)} | {repeated:.3f} "
            f"| {right} of {shown} ({right / max(1, shown):.1%}) "
            f"| {sum(one.misled for one in all_)} "
            f"| {1000 * median(one.seconds for one in all_):.1f} |"
        )
    lines += ["", f"| recall | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for side, all_ in found.items():
        cells = [f"{fmean(all_[n].recall for n in rows[name]):.3f}" for name in names]
        lines.append(f"| {side} | {' | '.join(cells)} |")
    return "\n".join(lines)


def about(cases: Sequence[Case], budget: int) -> str:
    """What was measured, where, and by which command."""
    told = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{len(cases)} questions, {budget} tokens (`cl100k_base`); {told}; "
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, "
        "one core of a shared machine. Measured by `make bench-frameworks`."
    )


def main() -> None:
    """Read, measure, print; with `--write` into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--limit", type=int, help="questions of each set")
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE}")
    chosen = parser.parse_args()
    taken: dict[str, int] = {}
    cases = []
    for case in read_cases([f"{chosen.folder}/*.jsonl.gz"]):
        taken[case.dataset] = taken.get(case.dataset, 0) + 1
        if chosen.limit is None or taken[case.dataset] <= chosen.limit:
            cases.append(case)
    text = f"{about(cases, chosen.budget)}\n\n{table(cases, measured(cases, chosen.budget))}"
    print(text)
    if chosen.write:
        put_into(PAGE, "frameworks", text)


if __name__ == "__main__":
    main()
