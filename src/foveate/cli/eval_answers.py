"""`foveate eval run --model`: what asking takes, said before and after; the asking itself."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from foveate.cli.failures import escape_unprintable
from foveate.cli.progress import progress_bar
from foveate.evals.answers.outcome import Outcome
from foveate.evals.answers.run import AnswerRunner, AnswerRunOptions, CallEstimate, CallUsage
from foveate.evals.answers.summary import summarise_answers
from foveate.evals.cases import Case
from foveate.evals.figures import AnswersSummary
from foveate.evals.report import ANSWERS_FILE
from foveate.evals.trials import Setting
from foveate.ports import Model

_MAX_ERRORS = 3
"""Errors that are repeated in words; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """Who is asked, and how."""

    model: Model
    options: AnswerRunOptions


def run_answers(
    wanted: AnswerOptions, cases: Sequence[Case], made: Setting, baseline: str, out: Path | None
) -> AnswersSummary:
    """Ask about every context; raises `OutsideFailure` where nobody answers any more."""
    kept = out / ANSWERS_FILE if out is not None else None
    judge = AnswerRunner(wanted.model, wanted.options, kept)
    judge.detect_scoring()
    _print_lines(estimate_line(judge.estimate(cases, made), judge.model.name, wanted.options))
    try:
        with progress_bar() as on_progress:
            outcomes = judge.run(cases, made, on_progress=on_progress)
    finally:
        _print_lines(usage_line(judge.usage))
    _print_lines(*failure_lines(outcomes))
    return summarise_answers(
        outcomes,
        baseline=baseline,
        model=judge.model.name,
        prompt=wanted.options.prompt,
        tokens=wanted.options.tokens,
    )


def estimate_line(need: CallEstimate, model: str, how: AnswerRunOptions) -> str:
    """What asking will take.

    >>> estimate_line(
    ...     CallEstimate(answers=40, scores=40, read=51_000), "told", AnswerRunOptions(tokens=32)
    ... )
    'told: 40 answers, 40 probabilities; about 51,000 tokens to read, at most 1,280 to write'
    """
    most = need.answers * how.tokens
    told = f", {need.known:,} known from before" if need.known else ""
    return (
        f"{model}: {need.answers:,} answers, {need.scores:,} probabilities{told}; about "
        f"{need.read:,} tokens to read, at most {most:,} to write"
    )


def usage_line(spent: CallUsage) -> str:
    """What it took.

    >>> usage_line(CallUsage(calls=80, failed=1, read=52_300, wrote=901))
    'asked: 80 calls, 1 failed; 52,300 tokens read, 901 written, as the model counts them'
    """
    failed = f", {spent.failed:,} failed" if spent.failed else ""
    return (
        f"asked: {spent.calls:,} calls{failed}; {spent.read:,} tokens read, "
        f"{spent.wrote:,} written, as the model counts them"
    )


def failure_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """The errors, the most frequent first; nothing where there is none."""
    found = Counter(one.failed for one in outcomes if one.failed)
    lines = [f"failed {count:,} times: {why}" for why, count in found.most_common(_MAX_ERRORS)]
    more = len(found) - _MAX_ERRORS
    return [*lines, *([f"and {more:,} other errors"] if more > 0 else [])]


def _print_lines(*lines: str) -> None:
    sys.stderr.writelines(f"foveate: {escape_unprintable(line)}\n" for line in lines)
    sys.stderr.flush()
