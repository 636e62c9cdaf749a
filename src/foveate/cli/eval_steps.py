"""What `foveate eval` does after its flags are read."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foveate import plugins
from foveate.cli import output
from foveate.cli.assemble_run import load_model
from foveate.cli.failures import escape_unprintable
from foveate.cli.files import display_name, read_json, read_text_lines
from foveate.cli.output import progress_bar
from foveate.core.candidates import candidates_from_jsonl
from foveate.core.errors import BadInput, ExternalError, MissingExtra, name_in_errors
from foveate.core.types import Candidate
from foveate.evals.answers.outcome import Outcome
from foveate.evals.answers.run import AnswerRunner, AnswerRunOptions, CallEstimate, CallUsage
from foveate.evals.answers.summary import summarise_answers
from foveate.evals.cases import Case
from foveate.evals.diagnosis.probe import ALL_NEIGHBOURS
from foveate.evals.figures import AnswersSummary, Summary, summary_to_json
from foveate.evals.gate import Rules, check_summary, find_broken_rules, find_regressions
from foveate.evals.questions import retrieve_pools
from foveate.evals.read import read_cases
from foveate.evals.report import ANSWERS_FILE, RESULTS_FILE, format_heading, write_report
from foveate.evals.rows import Row, write_rows
from foveate.evals.scores import rescore_cases
from foveate.evals.tables import LEGEND, summary_tables, table_to_markdown
from foveate.evals.trials import Setting
from foveate.evals.worker import embed_candidates
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.store_with_embedder import open_store_with_embedder

Pools = list[tuple[Candidate, ...]]


def load_pools(chunks: str | None, cases: Sequence[str], store: str | None) -> Pools:
    """A pool for each case, or one pool of all chunks; raises `BadInput` if there is none."""
    if cases:
        return [case.candidates() for case in read_cases(cases)]
    if store is not None:
        return [_load_store(store)]
    name = chunks or ""
    lines = read_text_lines(name)
    with name_in_errors(display_name(name)):
        found = candidates_from_jsonl(lines)
        if not found:
            raise BadInput("holds no chunks; give one JSON object a line")
    return [found]


def _load_store(url: str) -> tuple[Candidate, ...]:
    with open_store_with_embedder(url) as (store, _):
        places = [(document, 0) for document, _hash in store.documents()]
        found = tuple(Candidate(chunk=c) for c in store.neighbours(places, ALL_NEIGHBOURS))
    if not found:
        raise BadInput(f"{url}: holds no chunks that everybody may read")
    return found


def add_embeddings(pools: Pools, name: str) -> Pools:
    """The pools with this embedder's vectors for chunks without one; a text is embedded once."""
    bare = [c for pool in pools for c in pool if c.chunk.embedding is None]
    made = iter(embed_candidates(plugins.embedder(name), bare, {}) if bare else ())
    return [tuple(next(made) if c.chunk.embedding is None else c for c in pool) for pool in pools]


_MAX_ERRORS = 3
"""Errors that are repeated in words; the rest are counted."""


def run_answers(
    judge: AnswerRunner, cases: Sequence[Case], made: Setting, baseline: str
) -> AnswersSummary:
    """Ask the model about every context; raises `ExternalError` if it stops answering."""
    judge.detect_scoring()
    _print_lines(estimate_line(judge.estimate(cases, made), judge.model.name, judge.options))
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
        prompt=judge.options.prompt,
        tokens=judge.options.tokens,
    )


def estimate_line(need: CallEstimate, model: str, how: AnswerRunOptions) -> str:
    """The calls and tokens that a run will take.

    >>> estimate_line(
    ...     CallEstimate(answers=40, scores=40, read=51_000), "small", AnswerRunOptions(tokens=32)
    ... )
    'small: 40 answers, 40 probabilities; about 51,000 tokens to read, at most 1,280 to write'
    """
    most = need.answers * how.tokens
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


def failure_lines(outcomes: Sequence[Outcome]) -> list[str]:
    """The errors, the most frequent first."""
    found = Counter(one.failed for one in outcomes if one.failed)
    lines = [f"failed {count:,} times: {why}" for why, count in found.most_common(_MAX_ERRORS)]
    more = len(found) - _MAX_ERRORS
    return [*lines, *([f"and {more:,} other errors"] if more > 0 else [])]


def _print_lines(*lines: str) -> None:
    sys.stderr.writelines(f"foveate: {escape_unprintable(line)}\n" for line in lines)
    sys.stderr.flush()


_VECTORS = "wordllama"
"""The embedder of `--scores cosine` and `rrf` if none is named."""


def load_summary(name: str) -> Any:
    """An earlier summary; raises `BadInput` if it is none."""
    earlier = read_json(name)
    with name_in_errors(name):
        check_summary(earlier)
    return earlier


def find_broken(summary: Summary, rules: Rules | None, earlier: Any, name: str | None) -> list[str]:
    """What the rules, and an earlier summary in the file `name`, have against this one."""
    said = find_broken_rules(summary, rules) if rules is not None else []
    if earlier is not None:
        with name_in_errors(name):
            said += find_regressions(summary, earlier)
    return said


def load_judge(model: str, tokens: int, timeout: float, out: Path | None) -> AnswerRunner:
    """What asks the model; what the model lacks is reported before the work."""
    options = AnswerRunOptions(tokens=tokens, timeout=timeout)
    return AnswerRunner(load_model(model), options, out / ANSWERS_FILE if out is not None else None)


def rescore(cases: Sequence[Case], scores: Sequence[str], embedder: str) -> Sequence[Case]:
    """The cases with the scores of these variants."""
    return rescore_cases(cases, scores, lambda: plugins.embedder(embedder or _VECTORS))


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


def warn_of_absent_evidence(summary: Summary, cases: Sequence[Case]) -> None:
    """Say which questions no recipe can do well at; often the evidence is not copied exactly."""
    found = [case for case in cases if case.id in summary.no_evidence.get(case.dataset, ())]
    if found:
        first = found[0]
        _print_lines(
            f"no evidence in the candidates of {len(found):,} of {len(cases):,} questions, first "
            f"{first.question[:80]!r} with the evidence {first.evidence[0].text[:80]!r}; copy it "
            "from the documents word by word, or, with --store, try a higher --limit"
        )


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
