"""What `foveate eval` does after its flags are read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from foveate.cli import output
from foveate.cli.assemble_run import load_model
from foveate.cli.layout import wrap_words
from foveate.core.errors import ExternalError, MissingExtra
from foveate.evals.answers.run import AnswerRunner, CallEstimate, CallUsage
from foveate.evals.cases import Case
from foveate.evals.figures import AnswersSummary, Summary, summary_to_json
from foveate.evals.questions import retrieve_pools
from foveate.evals.read import read_cases
from foveate.evals.report import ANSWERS_FILE, RESULTS_FILE, format_heading, write_report
from foveate.evals.rows import Row, write_rows
from foveate.evals.summary import summarise_answers
from foveate.evals.tables import (
    LEGEND,
    full_tables,
    overall_table,
    summary_lines,
    table_to_markdown,
)
from foveate.evals.trials import WHOLE_POOL, Setting
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.store_with_embedder import open_store_with_embedder

_MAX_ERRORS = 3
"""Errors that are repeated in words; the rest are counted."""


def run_answers(
    judge: AnswerRunner, cases: Sequence[Case], made: Setting, baseline: str
) -> AnswersSummary:
    """Ask the model about every context; raises `ExternalError` if it stops answering."""
    judge.detect_scoring()
    output.write_note(estimate_line(judge.estimate(cases, made), judge.model.name, judge.tokens))
    try:
        with output.progress_bar() as on_progress:
            outcomes = judge.run(cases, made, on_progress=on_progress)
    finally:
        output.write_note(usage_line(judge.usage))
    for line in failure_lines(outcomes):
        output.write_note(line)
    return summarise_answers(
        outcomes, baseline=baseline, model=judge.model.name, tokens=judge.tokens
    )


def estimate_line(need: CallEstimate, model: str, tokens: int) -> str:
    """The calls and tokens that a run will take, with answers of at most so many `tokens`.

    >>> estimate_line(CallEstimate(answers=40, scores=40, read=51_000), "small", 32)
    'small: 40 answers, 40 probabilities; about 51,000 tokens to read, at most 1,280 to write'
    """
    most = need.answers * tokens
    known = f", {need.known:,} known from before" if need.known else ""
    return (
        f"{model}: {need.answers:,} answers, {need.scores:,} probabilities{known}; about "
        f"{need.read:,} tokens to read, at most {most:,} to write"
    )


def usage_line(spent: CallUsage) -> str:
    """The calls and tokens that a run took.

    >>> usage_line(CallUsage(calls=80, failed=1, read=52_300, wrote=901))
    'asked: 80 calls, 1 failed; 52,300 tokens read, 901 written, as the model counts them'
    """
    failed = f", {spent.failed:,} failed" if spent.failed else ""
    return (
        f"asked: {spent.calls:,} calls{failed}; {spent.read:,} tokens read, "
        f"{spent.wrote:,} written, as the model counts them"
    )


def failure_lines(outcomes: Sequence[Row]) -> list[str]:
    """The errors, the most frequent first."""
    found = Counter(one.failed for one in outcomes if one.failed)
    lines = [f"failed {count:,} times: {why}" for why, count in found.most_common(_MAX_ERRORS)]
    more = len(found) - _MAX_ERRORS
    return [*lines, *([f"and {more:,} other errors"] if more > 0 else [])]


def load_judge(model: str, tokens: int, timeout: float, out: Path | None) -> AnswerRunner:
    """What asks the model; what the model lacks is reported before the work."""
    log = out / ANSWERS_FILE if out is not None else None
    return AnswerRunner(load_model(model), log, tokens=tokens, timeout=timeout)


def prepare_folder(out: Path) -> None:
    """Create the folder before the work. Raises `ExternalError`."""
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


def load_cases(
    names: Sequence[str], most: int | None, store: str | None, limit: int
) -> Sequence[Case]:
    """The first cases of each set; with a store, its `limit` candidates in place of their own."""
    cases = limit_cases(read_cases(names, pools=store is None), most)
    if store is None:
        return cases
    with open_store_with_embedder(store) as (opened, embedder):
        return retrieve_pools(cases, Assembler(opened, embedder=embedder), limit)


def limit_cases(cases: Sequence[Case], limit: int | None) -> Sequence[Case]:
    """The first cases of each set."""
    seen: Counter[str] = Counter()
    chosen = []
    for case in cases:
        seen[case.dataset] += 1
        if limit is None or seen[case.dataset] <= limit:
            chosen.append(case)
    return chosen


def write_results(rows: Sequence[Row], out: Path) -> None:
    """Write the rows before a model is asked, which may fail."""
    with _name_unwritable(out):
        write_rows(out / RESULTS_FILE, rows)


def write_files(summary: Summary, out: Path, *, plot: bool) -> MissingExtra | None:
    """Write the report; the result is why there is no chart, if one was asked for."""
    with _name_unwritable(out):
        return write_report(summary, out, plot=plot)


@contextmanager
def _name_unwritable(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExternalError(f"{out}: cannot be written: {error.strerror or error}") from error


def warn_of_absent_evidence(rows: Sequence[Row], cases: Sequence[Case]) -> None:
    """Say which questions no recipe can do well at; often the evidence is not copied exactly."""
    pools = (row for row in rows if row.recipe == WHOLE_POOL)
    found = [case for case, row in zip(cases, pools, strict=True) if not row.measures["recall"]]
    if found:
        first = found[0]
        output.write_note(
            f"no evidence in the candidates of {len(found):,} of {len(cases):,} questions, first "
            f"{first.question[:80]!r} with the evidence {first.evidence[0].text[:80]!r}; copy it "
            "from the documents word by word, or, with --store, try a higher --limit"
        )


WIDTH = 100
"""Columns of what is printed."""


def print_summary(summary: Summary, *, full: bool, as_json: bool) -> None:
    """The summary on stdout: a sentence for each recipe and one table, all tables, or an object."""
    if as_json:
        output.write_json(summary_to_json(summary))
        return
    for said in summary_lines(summary):
        output.write("".join(f"{line}\n" for line in wrap_words(said, WIDTH, rest="  ")))
    output.write_line(f"\n{table_to_markdown(overall_table(summary), WIDTH)}")
    hint = LEGEND if full else "Found: all evidence of a question. All tables: --full."
    _write_wrapped(f"{format_heading(summary)} {hint}")
    for table in full_tables(summary) if full else ():
        _write_wrapped(table.title)
        output.write_line(f"\n{table_to_markdown(table, WIDTH)}")


def _write_wrapped(text: str) -> None:
    """The text behind an empty line."""
    output.write("".join(f"{line}\n" for line in ("", *wrap_words(text, WIDTH))))
