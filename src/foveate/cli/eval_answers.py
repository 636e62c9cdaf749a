"""`foveate eval run --model`: what asking takes, said before and after; the asking itself."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foveate.cli.failures import printable
from foveate.cli.progress import progress
from foveate.evals.answers.asking import How, Judge, Need, Spent
from foveate.evals.answers.figures import Answers
from foveate.evals.answers.outcome import Outcome
from foveate.evals.answers.summary import summarise_answers
from foveate.evals.cases import Case
from foveate.evals.report import ANSWERS
from foveate.evals.trials import Setting
from foveate.ports import Model

_SHOWN = 3
"""Errors that are repeated in words; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Who is asked, and how."""

    model: Model
    how: How


def answered(
    wanted: Wanted, cases: Sequence[Case], made: Setting, baseline: str, out: Path | None
) -> Answers:
    """Ask about every context; raises `OutsideFailure` where nobody answers any more."""
    kept = out / ANSWERS if out is not None else None
    judge = Judge(wanted.model, wanted.how, kept)
    judge.settle()
    _say(before(judge.need(cases, made), judge.model.name, wanted.how))
    try:
        with progress() as on_progress:
            outcomes = judge.run(cases, made, on_progress=on_progress)
    finally:
        _say(after(judge.spent))
    _say(*failures(outcomes))
    return summarise_answers(
        outcomes,
        baseline=baseline,
        model=judge.model.name,
        prompt=wanted.how.prompt,
        tokens=wanted.how.tokens,
    )


def before(need: Need, model: str, how: How) -> str:
    """What asking will take.

    >>> before(Need(answers=40, scores=40, read=51_000), "told", How(tokens=32))
    'told: 40 answers, 40 probabilities; about 51,000 tokens to read, at most 1,280 to write'
    """
    most = need.answers * how.tokens
    told = f", {need.known:,} known from before" if need.known else ""
    return (
        f"{model}: {need.answers:,} answers, {need.scores:,} probabilities{told}; about "
        f"{need.read:,} tokens to read, at most {most:,} to write"
    )


def after(spent: Spent) -> str:
    """What it took.

    >>> after(Spent(calls=80, failed=1, read=52_300, wrote=901))
    'asked: 80 calls, 1 failed; 52,300 tokens read, 901 written, as the model counts them'
    """
    failed = f", {spent.failed:,} failed" if spent.failed else ""
    return (
        f"asked: {spent.calls:,} calls{failed}; {spent.read:,} tokens read, "
        f"{spent.wrote:,} written, as the model counts them"
    )


def failures(outcomes: Sequence[Outcome]) -> list[str]:
    """The errors, the most frequent first; nothing where there is none."""
    found = Counter(one.failed for one in outcomes if one.failed)
    lines = [f"failed {count:,} times: {why}" for why, count in found.most_common(_SHOWN)]
    more = len(found) - _SHOWN
    return [*lines, *([f"and {more:,} other errors"] if more > 0 else [])]


def _say(*lines: str) -> None:
    sys.stderr.writelines(f"foveate: {printable(line)}\n" for line in lines)
    sys.stderr.flush()
