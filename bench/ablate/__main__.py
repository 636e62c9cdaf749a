"""Each rule, trait, option and constant of the decision off, halved or doubled, in turn.

    python -m bench.ablate FILE.jsonl.gz...                    a line a switch, as it is known
    python -m bench.ablate FILE... --only "trait " --cases 40  some of them, on more questions
    python -m bench.ablate FILE... --write                     the table into docs/ablations.md

The sets on which no constant was chosen lead: a switch whose loss there is within one standard
error is a candidate for deletion, unless a promise fails with it (`--promises tests/promises`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench.ablate.run import Effect, effects, sample_of
from bench.page import put_into
from foveate.pipeline.text_files import expand_patterns

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "ablations.md"
HEAD = (
    "| kind | switched | recall | ± | complete | tokens | recall, fitted sets | CPU | promises |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def line(effect: Effect) -> str:
    """A row of the table."""
    failing = "" if effect.failing is None else f"{effect.failing} fail"
    return (
        f"| {effect.kind} | `{effect.name}` | {effect.recall:+.4f} | {effect.error:.4f} "
        f"| {effect.complete:+.4f} | {effect.tokens:+.0f} | {effect.fitted:+.4f} "
        f"| {effect.time:.0%} | {failing} |"
    )


def page(found: Sequence[Effect], words: str) -> str:
    """The table: what the left-out sets see first, by loss; then what they do not see."""
    seen = sorted((one for one in found if one.is_seen), key=lambda one: one.recall)
    unseen = [one for one in found if not one.is_seen]
    better = sum(one.recall > one.error for one in unseen)
    return "\n".join(
        (
            f"{words}\n",
            f"## {len(seen)} switches lose more than their error\n",
            *(HEAD, *map(line, seen)),
            f"\n## {len(unseen)} switches are within their error, {better} of them gain\n",
            *(HEAD, *map(line, unseen)),
        )
    )


def main() -> int:
    """Print a line a switch; write the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--cases", type=int, default=8, help="questions of each set")
    parser.add_argument("--budgets", default="500,2000")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="switches whose kind or name has this in it")
    parser.add_argument("--promises", default="", help="a folder of tests to run beside")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    budgets = [int(one) for one in asked.budgets.split(",")]
    sample = sample_of([*expand_patterns(asked.files)], asked.cases, budgets)
    print(HEAD, flush=True)
    found = []
    for effect in effects(sample, jobs=asked.jobs, only=asked.only, promises=asked.promises):
        print(line(effect), flush=True)
        found.append(effect)
    if asked.write:
        sets = len({case.dataset for case in sample.cases})
        words = (
            f"{len(found)} switches, {len(sample.cases)} questions of {sets} sets, budgets "
            f"{asked.budgets}; `make ablate`. Recall, complete and tokens are differences from "
            "`default` over the sets on which no constant was chosen."
        )
        put_into(PAGE, "ablations", page(found, words))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
