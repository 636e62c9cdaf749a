"""What `foveate eval run` does, once its flags are read: evaluate, write, show, check."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from foveate._version import __version__
from foveate.cli import output
from foveate.cli.eval_answers import AnswerOptions, run_answers
from foveate.cli.failures import name_file_in_errors
from foveate.cli.files import read_json
from foveate.cli.models import load_model
from foveate.cli.progress import progress_bar
from foveate.core.errors import ExternalError, MissingExtra
from foveate.evals.answers.run import AnswerRunOptions
from foveate.evals.cases import Case
from foveate.evals.figures import Summary
from foveate.evals.gate import Rules, check_summary, find_broken_rules, find_regressions, read_rules
from foveate.evals.read import read_cases
from foveate.evals.report import RESULTS_FILE, format_heading, write_report
from foveate.evals.run import run
from foveate.evals.summary import summarise
from foveate.evals.tables import LEGEND, summary_tables, table_to_markdown
from foveate.evals.trials import build_setting
from foveate.evals.wire import summary_to_json

SummaryCheck = Callable[[Summary], list[str]]


def load_checks(rules: str | None, asked: bool, against: str | None) -> SummaryCheck:
    """What the summary must pass; a file that cannot be read is refused before the work."""
    held = (read_rules(rules) if rules is not None else Rules()) if asked else None
    earlier = read_json(against) if against is not None else None
    if against is not None:
        with name_file_in_errors(against):
            check_summary(earlier)

    def checks(summary: Summary) -> list[str]:
        said = find_broken_rules(summary, held) if held is not None else []
        if earlier is not None:
            with name_file_in_errors(against):
                said += find_regressions(summary, earlier)
        return said

    return checks


def run_evaluation(
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
    wanted: AnswerOptions | None = None,
) -> Summary:
    """Read, run with a bar, ask the model that is wanted, summarise."""
    made, reference = build_setting(
        recipes, budgets, baseline=baseline, tokenizer=tokenizer, embedder=embedder
    )
    cases = limit_cases(read_cases(names), limit)
    if out is not None:
        _create_folder(out)
    with progress_bar() as on_progress:
        rows = run(
            cases,
            made,
            results=out / RESULTS_FILE if out is not None else None,
            jobs=jobs,
            on_progress=on_progress,
        )
    summary = summarise(
        rows, baseline=reference, version=__version__, tokenizer=tokenizer, embedder=embedder
    )
    if wanted is None:
        return summary
    return replace(summary, answers=run_answers(wanted, cases, made, reference, out))


def answer_options(model: str, tokens: int, timeout: float) -> AnswerOptions | None:
    """Who is asked, where somebody is; what it lacks is said before the work."""
    return (
        AnswerOptions(
            model=load_model(model), options=AnswerRunOptions(tokens=tokens, timeout=timeout)
        )
        if model
        else None
    )


def _create_folder(out: Path) -> None:
    """The folder, before the work; raises `ExternalError` where it cannot be."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        fine = os.access(out, os.W_OK | os.X_OK)
    except FileExistsError:
        raise ExternalError(f"{out}: is no folder; name another one for --out") from None
    except OSError as error:
        reason = error.strerror or error
        raise ExternalError(f"{out}: cannot be made: {reason}; name another --out") from error
    if not fine:
        raise ExternalError(f"{out}: cannot be written to; name another --out")


def limit_cases(cases: Sequence[Case], limit: int | None) -> Sequence[Case]:
    """The first of each set."""
    seen: Counter[str] = Counter()
    kept = []
    for case in cases:
        seen[case.dataset] += 1
        if limit is None or seen[case.dataset] <= limit:
            kept.append(case)
    return kept


def write_files(summary: Summary, out: Path, *, plot: bool) -> MissingExtra | None:
    """The report's files; why there is no chart, where there should be one."""
    try:
        return write_report(summary, out, plot=plot)
    except OSError as error:
        raise ExternalError(f"{out}: cannot be written: {error.strerror or error}") from error


def print_summary(summary: Summary, *, as_json: bool) -> None:
    """The summary on stdout, as tables or as one object."""
    if as_json:
        output.write_json(summary_to_json(summary))
        return
    output.write_line(format_heading(summary))
    for i, table in enumerate(summary_tables(summary)):
        output.write_line(f"\n{table.title}\n")
        output.write_line(table_to_markdown(table))
        if i == 0:
            output.write_line(f"\n{LEGEND}")
