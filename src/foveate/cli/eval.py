"""`foveate eval`: recipes compared on golden cases. Without a command, `run` is meant."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from foveate.cli import output
from foveate.cli.eval_thresholds import thresholds
from foveate.cli.failures import GATE
from foveate.cli.options import MODEL_SYNTAX, CaseFiles, CaseLimit, Json, Timeout, flag, option
from foveate.core.errors import BadOption

ScoreVariants = Annotated[list[str] | None, option("V,V", "given, oracle, noisy:P, none.")]
StoreOfCandidates = Annotated[str | None, option("URL", "Take the candidates from this store.")]


def run(
    *,
    files: CaseFiles = None,
    dataset: Annotated[
        list[str] | None, option("FILE...", "Files of cases (.gz too) or patterns.")
    ] = None,
    recipes: Annotated[
        list[str] | None, option("R,R", "Recipes (default: naive,default,tight).")
    ] = None,
    budgets: Annotated[
        list[str] | None, option("N,N", "Tokens (default: 500,1000,2000,4000).")
    ] = None,
    baseline: Annotated[str, option("R", "Recipe that the others are compared with.")] = "naive",
    tokenizer: Annotated[str, option("T", "Tokenizer of all budgets.")] = "cl100k_base",
    embedder: Annotated[str, option("E", "Embedder of the candidates (default: none).")] = "",
    scores: ScoreVariants = None,
    store: StoreOfCandidates = None,
    depth: Annotated[int, option("N", "Candidates from --store.", "--limit", min=1)] = 30,
    cases: CaseLimit = None,
    jobs: Annotated[int, option("N", "Processes that assemble.", min=1)] = 1,
    out: Annotated[Path | None, option("FOLDER", "Write results, report and chart here.")] = None,
    plot: Annotated[bool, flag("Draw the chart.", "--plot/--no-plot")] = True,
    gate: Annotated[
        bool, flag("Exit with code 6 if a recipe recalls 0.01 less than the baseline.", "--gate")
    ] = False,
    model: Annotated[str, option("M", f"Model to judge as well: {MODEL_SYNTAX}.")] = "",
    answer_tokens: Annotated[int, option("N", "Of an answer; 0: only probabilities.", min=0)] = 64,
    timeout: Timeout = 120.0,
    full: Annotated[bool, flag("Print all tables.", "--full")] = False,
    as_json: Json = False,
) -> None:
    """Measure recipes on questions whose evidence is known.

    --dataset takes several files. With --store, questions need no candidates of their own and may
    come from a CSV file with the columns question and evidence. --scores replaces the candidates'
    scores: oracle gives those of a retriever that knows the evidence, noisy:P the same in the share
    P of the questions. --gate also fails for a context that is over its budget.
    """
    from dataclasses import replace

    from foveate.cli import eval_steps as steps
    from foveate.evals.run import run as run_cases
    from foveate.evals.scores import rescore_cases
    from foveate.evals.summary import find_losses, summarise
    from foveate.evals.trials import build_setting

    names = [*(dataset or []), *(files or [])]
    if not names:
        raise typer.BadParameter("give the cases: --dataset FILE...")
    judge = steps.load_judge(model, answer_tokens, timeout, out) if model else None
    setting, reference = build_setting(
        _split_list(recipes, "naive,default,tight"),
        [_parse_budget(word) for word in _split_list(budgets, "500,1000,2000,4000")],
        baseline=baseline,
        tokenizer=tokenizer,
        embedder=embedder,
    )
    chosen = rescore_cases(
        steps.load_cases(names, cases, store, depth), _split_list(scores, "given")
    )
    if out is not None:
        steps.prepare_folder(out)
    with output.progress_bar() as on_progress:
        rows = run_cases(chosen, setting, jobs=jobs, on_progress=on_progress)
    if out is not None:
        steps.write_results(rows, out)
    summary = summarise(
        rows, baseline=reference, tokenizer=setting.tokenizer, embedder=setting.embedder
    )
    if judge is not None:
        answers = steps.run_answers(judge, chosen, setting, reference)
        summary = replace(summary, answers=answers)
    missing = steps.write_files(summary, out, plot=plot) if out is not None else None
    steps.warn_of_absent_evidence(rows, chosen)
    steps.print_summary(summary, full=full, as_json=as_json)
    output.flush()
    if gate and (said := find_losses(summary)):
        sys.stderr.writelines(f"foveate: gate: {line}\n" for line in said)
        raise typer.Exit(GATE)
    if missing is not None:
        raise missing


def _split_list(words: list[str] | None, default: str) -> list[str]:
    """The values of `a,b`, and of a repeated option."""
    parts = [part.strip() for word in words or [default] for part in word.split(",")]
    return [part for part in parts if part]


def _parse_budget(word: str) -> int:
    try:
        return int(word.replace("_", ""))
    except ValueError:
        raise BadOption(f"--budgets: {word!r}: write numbers of tokens, such as 500,1000") from None


RUN = "run"


class RunsByDefault(TyperGroup):
    """`foveate eval --dataset F` is `foveate eval run --dataset F`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put `run` before words that name no command and ask for no help."""
        asks = bool(args) and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if asks else [RUN, *args])


app = typer.Typer(
    cls=RunsByDefault,
    help="Evaluate and compare recipes on golden cases; without a command: run.",
    rich_markup_mode=None,
)
app.command(RUN)(run)
app.command(short_help="Show what near-duplicate thresholds would drop.")(thresholds)
