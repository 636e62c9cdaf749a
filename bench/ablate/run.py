"""What each switch changes: evidence, whole answers, tokens and time, question by question."""

from __future__ import annotations

import gc
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from time import process_time

import foveate
from bench.ablate.switches import Switch, all_switches
from bench.forget import forget
from foveate.core.recipes import builtin_recipes
from foveate.core.request import Recipe
from foveate.evals.cases import Case
from foveate.evals.measures import measure
from foveate.evals.read import read_cases

FITTED = frozenset(
    [
        "chunkeval",
        "claude_docs",
        "covidqa",
        "covidqa_mix",
        "hotpotqa",
        "nq20",
        "xquad_de",
        "xquad_zh",
    ]
)
"""The sets on which weights and constants were chosen; all others are left out of every choice."""
BASE = "default"
PROMISES = ("budgets", "forging", "books", "isolation", "lookup")
"""Files of tests/promises whose names have one of these words are run beside the evaluation."""

Row = tuple[float, float, float]
"""Recall, whether all evidence is there, and tokens of one context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a switch changes, as its mean minus the base's; `error`: one standard error.

    Over the sets left out: `recall`, `error`, `complete`, `tokens`; over the fitted sets:
    `fitted`. `time`: CPU time as a share of the base's. `failing`: promises that fail with it,
    None where they were not tried.
    """

    kind: str
    name: str
    recall: float
    error: float
    complete: float
    tokens: float
    fitted: float
    time: float
    failing: int | None = None

    @property
    def is_seen(self) -> bool:
        """Whether the left-out sets lose more than a standard error without it."""
        return -self.recall > self.error


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The questions that every switch is tried on, and the budgets."""

    cases: tuple[Case, ...]
    budgets: tuple[int, ...]

    def rows(self, recipe: Recipe) -> tuple[list[Row], float]:
        """One row a question and budget, and the seconds of CPU that all took."""
        forget()
        gc.collect()
        before = process_time()
        contexts = [
            foveate.assemble(case.question, case.candidates(), budget=budget, recipe=recipe)
            for case in self.cases
            for budget in self.budgets
        ]
        seconds = process_time() - before
        return list(map(self._row, range(len(contexts)), contexts)), seconds

    def _row(self, number: int, context: foveate.Context) -> Row:
        case = self.cases[number // len(self.budgets)]
        evidence = [one.text for one in case.evidence]
        found = measure(context.text, evidence, tokens=context.token_count)
        return found.recall, found.complete, float(found.tokens)

    def left_out(self) -> list[bool]:
        """For each row, whether its set was left out of every choice."""
        return [case.dataset not in FITTED for case in self.cases for _ in self.budgets]


def sample_of(files: Sequence[str], per_set: int, budgets: Sequence[int]) -> Sample:
    """Every n-th question of each file, so many a file."""
    cases: list[Case] = []
    for name in files:
        several = read_cases([name])
        cases += several[:: max(1, len(several) // per_set)][:per_set]
    return Sample(cases=tuple(cases), budgets=tuple(budgets))


def effects(sample: Sample, *, jobs: int, only: str = "", promises: str = "") -> Iterator[Effect]:
    """Each switch's effect, as it is known; `only`: those whose kind or name has this in it.

    `promises`: a folder of tests to run with each switch that the left-out sets do not see.
    """
    switches = _chosen(only)
    base, seconds = sample.rows(builtin_recipes()[BASE])
    _, again = sample.rows(builtin_recipes()[BASE])
    shared = _Shared(
        sample=sample, base=base, seconds=min(seconds, again), only=only, promises=promises
    )
    spawning = multiprocessing.get_context("spawn")
    with spawning.Pool(jobs, initializer=_start, initargs=(shared,)) as pool:
        yield from pool.imap(_effect_of, range(len(switches)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shared:
    """What each process gets once; it finds the switches itself, for they hold functions."""

    sample: Sample
    base: list[Row]
    seconds: float
    only: str
    promises: str


_PROCESS: dict[str, tuple[_Shared, list[Switch]]] = {}


def _start(shared: _Shared) -> None:
    _PROCESS["own"] = shared, _chosen(shared.only)


def _chosen(only: str) -> list[Switch]:
    return [one for one in all_switches() if only in f"{one.kind} {one.name}"]


def _effect_of(number: int) -> Effect:
    shared, switches = _PROCESS["own"]
    sample, switch = shared.sample, switches[number]
    with switch.done() as recipe:
        try:
            rows, seconds = sample.rows(recipe)
        except Exception as error:  # noqa: BLE001  # a value that the code cannot work with
            print(f"{switch.name}: {type(error).__name__}: {error}", file=sys.stderr)
            return Effect(
                kind=switch.kind, name=f"{switch.name} (fails)", recall=-1.0, error=0.0,
                complete=-1.0, tokens=0.0, fitted=-1.0, time=1.0,
            )  # fmt: skip
    effect = compare(switch, sample, shared.base, rows, seconds / shared.seconds)
    if not shared.promises or effect.is_seen:
        return effect
    return replace(effect, failing=failing_promises(switch, shared.promises))


def compare(
    switch: Switch, sample: Sample, base: Sequence[Row], rows: Sequence[Row], time: float
) -> Effect:
    """The differences, row by row; the budgets of one question count as one observation."""
    held = sample.left_out()
    wide = len(sample.budgets)
    moved = [(a - b, c - d, e - f) for (a, c, e), (b, d, f) in zip(rows, base, strict=True)]
    out = [one for one, is_out in zip(moved, held, strict=True) if is_out] or moved
    inside = [one for one, is_out in zip(moved, held, strict=True) if not is_out] or moved
    questions = [fmean(one[0] for one in out[n : n + wide]) for n in range(0, len(out), wide)]
    error = stdev(questions) / sqrt(len(questions)) if len(questions) > 1 else 0.0
    return Effect(
        kind=switch.kind,
        name=switch.name,
        recall=fmean(questions),
        error=error,
        complete=fmean(one[1] for one in out),
        tokens=fmean(one[2] for one in out),
        fitted=fmean(one[0] for one in inside),
        time=time,
    )


def failing_promises(switch: Switch, folder: str) -> int:
    """How many tests of promises fail while it is done; those of exact bytes are not asked."""
    files = [
        str(path)
        for path in sorted(Path(folder).glob("test_*.py"))
        if any(word in path.name for word in PROMISES)
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "bench.ablate.plugin", "-p", "no:randomly",
         "-p", "no:cacheprovider", "--hypothesis-profile", "quick", *files],
        env={**os.environ, "FOVEATE_SWITCH": f"{switch.kind} {switch.name}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    last = done.stdout.strip().splitlines()[-1:] or [""]
    words = last[0].replace(",", "").split()
    return sum(int(words[n - 1]) for n, word in enumerate(words) if word in {"failed", "errors"})
