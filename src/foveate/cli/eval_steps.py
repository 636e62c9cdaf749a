"""What `foveate eval run` does, once its flags are read: evaluate, write, show, check."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from foveate._version import __version__
from foveate.cli import output
from foveate.cli.eval_answers import Wanted, answered
from foveate.cli.failures import in_file
from foveate.cli.files import read_json
from foveate.cli.models import model_named
from foveate.cli.progress import progress
from foveate.core.errors import MissingExtra, OutsideFailure
from foveate.evals.against import check_form, regressions
from foveate.evals.answers.asking import How
from foveate.evals.cases import Case
from foveate.evals.figures import Summary
from foveate.evals.gate import Rules, broken, read_rules
from foveate.evals.read import read_cases
from foveate.evals.report import RESULTS, heading, write_report
from foveate.evals.run import run
from foveate.evals.summary import summarise
from foveate.evals.table import markdown
from foveate.evals.tables import LEGEND, tables
from foveate.evals.trials import setting
from foveate.evals.wire import summary_to_json

Checks = Callable[[Summary], list[str]]


def read_checks(rules: str | None, asked: bool, against: str | None) -> Checks:
    """What the summary must pass; a file that cannot be read is refused before the work."""
    held = (read_rules(rules) if rules is not None else Rules()) if asked else None
    earlier = read_json(against) if against is not None else None
    if against is not None:
        with in_file(against):
            check_form(earlier)

    def checks(summary: Summary) -> list[str]:
        said = broken(summary, held) if held is not None else []
        if earlier is not None:
            with in_file(against):
                said += regressions(summary, earlier)
        return said

    return checks


def evaluated(
    names: Sequence[str],
    *,
    recipes: Sequence[str],
    budgets: Sequence[int],
    baseline: str,
    tokenizer: str,
    embedder: str,
    limit: int | None,
    jobs: int,
    out: Path | None,
    wanted: Wanted | None = None,
) -> Summary:
    """Read, run with a bar, ask the model that is wanted, summarise."""
    made, reference = setting(
        recipes, budgets, baseline=baseline, tokenizer=tokenizer, embedder=embedder
    )
    cases = first(read_cases(names), limit)
    if out is not None:
        _made(out)
    with progress() as on_progress:
        rows = run(
            cases,
            made,
            results=out / RESULTS if out is not None else None,
            jobs=jobs,
            on_progress=on_progress,
        )
    summary = summarise(
        rows, baseline=reference, version=__version__, tokenizer=tokenizer, embedder=embedder
    )
    if wanted is None:
        return summary
    return replace(summary, answers=answered(wanted, cases, made, reference, out))


def wanted(model: str, tokens: int, timeout: float) -> Wanted | None:
    """Who is asked, where somebody is; what it lacks is said before the work."""
    return (
        Wanted(model=model_named(model), how=How(tokens=tokens, timeout=timeout)) if model else None
    )


def _made(out: Path) -> None:
    """The folder, before the work; raises `OutsideFailure` where it cannot be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        fine = os.access(out, os.W_OK | os.X_OK)
    except FileExistsError:
        raise OutsideFailure(f"{out}: is no folder; name another one for --out") from None
    except OSError as error:
        reason = error.strerror or error
        raise OutsideFailure(f"{out}: cannot be made: {reason}; name another --out") from error
    if not fine:
        raise OutsideFailure(f"{out}: cannot be written to; name another --out")


def first(cases: Sequence[Case], limit: int | None) -> Sequence[Case]:
    """The first of each set."""
    seen: Counter[str] = Counter()
    kept = []
    for case in cases:
        seen[case.dataset] += 1
        if limit is None or seen[case.dataset] <= limit:
            kept.append(case)
    return kept


def write(summary: Summary, out: Path, *, plot: bool) -> MissingExtra | None:
    """The report's files; why there is no chart, where there should be one."""
    try:
        return write_report(summary, out, plot=plot)
    except OSError as error:
        raise OutsideFailure(f"{out}: cannot be written: {error.strerror or error}") from error


def show(summary: Summary, *, as_json: bool) -> None:
    """The summary on stdout, as tables or as one object."""
    if as_json:
        output.write_json(summary_to_json(summary))
        return
    output.write_line(heading(summary))
    for i, table in enumerate(tables(summary)):
        output.write_line(f"\n{table.title}\n")
        output.write_line(markdown(table))
        if i == 0:
            output.write_line(f"\n{LEGEND}")
