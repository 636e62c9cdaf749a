"""The figures of a cross-validation: as a part of a page, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from tools.fit.folds import ALL, LEFT_OUT, NAIVE, SHIPPED, Fits

from foveate.core.stages.compress.score import WEIGHTS
from foveate.evals.figures import Summary
from foveate.evals.tables import LEGEND, Table, missed_table, overall_table, table_to_markdown

NONE = "-"


def body(summary: Summary, found: Fits, command: str) -> str:
    """All tables, with the command that made them."""
    shown = (
        overall_table(summary),
        missed_table(summary),
        sets_table(summary),
        cells_table(summary),
        weights_table(found),
    )
    parts = [f"### {table.title}\n\n{table_to_markdown(table)}" for table in shown]
    questions = sum(summary.questions.values())
    head = (
        f"Made by `{command}`: foveate {summary.version}, {questions:,} questions, budgets in "
        f"tokens of {summary.tokenizer}. {LEGEND}"
    )
    return "\n\n".join((head, *parts))


def sets_table(summary: Summary) -> Table:
    """What each recipe misses of each set, over the budgets, and as a share of the baseline's."""
    others = (SHIPPED, LEFT_OUT)
    names = [*summary.questions]
    rows = [
        _missed_row(name, {recipe: missed(summary, recipe, [name]) for recipe in summary.recipes})
        for name in names
    ]
    mean = {recipe: missed(summary, recipe, names) for recipe in summary.recipes}
    return Table(
        title="Missed, set by set",
        head=("set", *summary.recipes, *(f"{other}, of {NAIVE}'s" for other in others)),
        rows=(*rows, _missed_row("all", mean)),
    )


def _missed_row(name: str, found: dict[str, float]) -> tuple[str, ...]:
    base = found[NAIVE]
    ratios = (f"{found[other] / base:.3f}" if base else NONE for other in (SHIPPED, LEFT_OUT))
    return (name, *(f"{value:.4f}" for value in found.values()), *ratios)


def missed(summary: Summary, recipe: str, sets: Sequence[str]) -> float:
    """1 - recall, each set and each budget counting the same."""
    return 1 - fmean(summary.recall(recipe, budget, sets) for budget in summary.budgets)


def cells_table(summary: Summary) -> Table:
    """Recall of each set at each budget: by weights that saw the set, and that did not."""
    return Table(
        title=f"Recall, {SHIPPED} → {LEFT_OUT}",
        head=("set", *(f"{budget:,}" for budget in summary.budgets)),
        rows=tuple(
            (name, *(_pair(summary, name, budget) for budget in summary.budgets))
            for name in summary.questions
        ),
    )


def _pair(summary: Summary, name: str, budget: int) -> str:
    values = (summary.recall(recipe, budget, [name]) for recipe in (SHIPPED, LEFT_OUT))
    return " → ".join(f"{value:.3f}" for value in values)


def weights_table(found: Fits) -> Table:
    """The weights as they stand, fitted to all sets, and fitted without each family."""
    columns = {SHIPPED: WEIGHTS, ALL: found.all}
    columns |= {f"without {name}": weights for name, weights in found.without.items()}
    return Table(
        title="Weights",
        head=("trait", *columns),
        rows=tuple(
            (f"`{trait}`", *(f"{weights[trait]:g}" for weights in columns.values()))
            for trait in WEIGHTS
        ),
    )


def figures(summary: Summary, found: Fits, command: str) -> dict[str, Any]:
    """The same as values."""
    return {
        "command": command,
        "version": summary.version,
        "tokenizer": summary.tokenizer,
        "questions": dict(summary.questions),
        "missed": {
            one.recipe: {
                "value": round(missed(summary, one.recipe, [*summary.questions]), 6),
                "interval": [round(bound, 6) for bound in (one.missed.low, one.missed.high)]
                if one.missed
                else None,
                "of_baseline": round(one.ratio.value, 6) if one.ratio else None,
                "sets": {
                    name: round(missed(summary, one.recipe, [name]), 6)
                    for name in summary.questions
                },
            }
            for one in summary.overall
        },
        "recall": {
            name: {
                recipe: {
                    str(budget): round(summary.recall(recipe, budget, [name]), 6)
                    for budget in summary.budgets
                }
                for recipe in summary.recipes
            }
            for name in summary.questions
        },
        "weights": {
            SHIPPED: dict(WEIGHTS),
            ALL: dict(found.all),
            "without": {name: dict(weights) for name, weights in found.without.items()},
        },
    }
