"""How often weak evidence is said in vain, and how often where nothing answers (SPEC J7).

    python -m bench.weak_evidence                  20 questions of each set of FOVEATE_DATA
    python -m bench.weak_evidence --budget 500     tokens of a context; 1,000 without it

false    of the questions whose evidence is all in the context: how many contexts are called weak
found    of the questions asked of the candidates of another set's: how many contexts are

The other set is the one half of the list further: two whose names are similar may share texts.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import foveate
from bench.evidence import DATA
from foveate.evals.cases import Case
from foveate.evals.measures import measure
from foveate.evals.read import read_cases

SAMPLED = 20
"""Questions of a set."""
BUDGET = 1_000
"""Tokens of a context."""

Figures = tuple[int, int, int, int]
"""False alarms, questions that are answered, foreign questions that are found, and asked."""


def sampled_sets(data: Path = DATA, size: int = SAMPLED) -> list[Sequence[Case]]:
    """Questions of each set, spread over it."""
    sets = [read_cases([str(path)]) for path in sorted(data.glob("*.jsonl.gz"))]
    return [cases[:: max(1, len(cases) // size)][:size] for cases in sets]


def figures(own: Sequence[Case], other: Sequence[Case], budget: int = BUDGET) -> Figures:
    """What is said of the first set's questions, asked of their candidates and of the second's."""
    false = answered = found = 0
    for case, foreign in zip(own, other, strict=False):
        made = foveate.assemble(case.question, case.candidates(), budget=budget)
        sought = [unit.text for unit in case.evidence]
        if measure(made.text, sought, tokens=made.token_count).complete:
            answered += 1
            false += bool(made.weak_evidence)
        made = foveate.assemble(case.question, foreign.candidates(), budget=budget)
        found += bool(made.weak_evidence)
    return false, answered, found, min(len(own), len(other))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures of each set, and of all together."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--budget", type=int, default=BUDGET, help="tokens of a context")
    budget = parser.parse_args(arguments).budget
    sets = sampled_sets()
    rows = []
    half = len(sets) // 2
    for own, other in zip(sets, sets[half:] + sets[:half], strict=True):
        rows.append(figures(own, other, budget))
        _print_row(own[0].dataset, rows[-1])
    _print_row("all", tuple(map(sum, zip(*rows, strict=True))))


def _print_row(name: str, row: Sequence[int]) -> None:
    false, answered, found, asked = row
    print(f"{name:12} {false:3} of {answered:3} false  {found:3} of {asked:3} found", flush=True)


if __name__ == "__main__":
    main()
