"""A summary as tables: the overall line, each set left out, and every set by budget and recipe."""

from __future__ import annotations

from foveate.evals.answers.tables import answer_tables
from foveate.evals.bootstrap import Interval
from foveate.evals.figures import Cell, OverallFigures, Summary
from foveate.evals.table import BETTER, EMPTY_CELL, WORSE, Table, format_count, format_difference

LEGEND = (
    f"Differences are paired with the baseline's, with 95 % bootstrap intervals; {BETTER} better "
    f"and {WORSE} worse where the interval excludes 0."
)


def summary_tables(summary: Summary) -> tuple[Table, ...]:
    """All of them, the most important first."""
    found = [overall_table(summary)]
    if len(summary.datasets) > 1 and len(summary.recipes) > 1:
        found.append(left_out_table(summary))
    answers = answer_tables(summary.answers) if summary.answers is not None else ()
    sets = (set_table(summary, name) for name in summary.datasets)
    return (*found, *answers[:1], *sets, *answers[1:])


def overall_table(summary: Summary) -> Table:
    """One row a recipe: what it misses over all sets and budgets, and what that is against."""
    base = summary.baseline
    sets, budgets = len(summary.datasets), len(summary.budgets)
    return Table(
        title=f"Evidence missed, over {format_count(sets, 'set')} and "
        f"{format_count(budgets, 'budget')}",
        head=(
            "recipe",
            "missed",
            f"of {base}'s",
            "recall, difference",
            "weighted, difference",
            "redundancy",
            "over",
            "no context",
            "worse in",
        ),
        rows=tuple(_overall_row(one, summary) for one in summary.overall),
    )


def _overall_row(one: OverallFigures, summary: Summary) -> tuple[str, ...]:
    is_base = one.recipe == summary.baseline
    cells = len(summary.datasets) * len(summary.budgets)
    return (
        one.recipe,
        _format_interval(one.missed),
        EMPTY_CELL if is_base else _format_interval(one.ratio),
        EMPTY_CELL if is_base else format_difference(one.recall_difference),
        EMPTY_CELL if is_base else format_difference(one.weighted_difference),
        f"{100 * one.redundancy:.2f} %",
        str(one.over),
        str(one.failed),
        EMPTY_CELL if is_base else f"{one.worse} of {cells}",
    )


def left_out_table(summary: Summary) -> Table:
    """The ratio over the other sets, for each set that is left out."""
    return Table(
        title=f"Share of {summary.baseline}'s missed evidence, each set left out in turn",
        head=("recipe", "all", *(f"without {name}" for name in summary.datasets)),
        rows=tuple(
            (
                one.recipe,
                _format_figure(one.ratio.value if one.ratio else None),
                *(_format_figure(one.without.get(name)) for name in summary.datasets),
            )
            for one in summary.overall
            if one.recipe != summary.baseline
        ),
    )


def set_table(summary: Summary, name: str) -> Table:
    """A set, by budget and recipe."""
    pools = [pool for pool in summary.pools if pool.dataset == name]
    said = [format_count(len(summary.ids[name]), "question")]
    said += [
        f"their candidates hold {_format_figure(pool.means['recall'])} of the evidence in "
        f"{pool.means['tokens'] or 0:,.0f} tokens"
        for pool in pools
    ]
    cells = [cell for cell in summary.cells if cell.dataset == name]
    return Table(
        title=f"{name}: {'; '.join(said)}",
        head=(
            "budget",
            "recipe",
            "recall",
            "difference",
            "full",
            "complete",
            "answer",
            "weighted",
            "redundancy",
            "use",
            "tokens per evidence",
        ),
        rows=tuple(_set_row(cell) for cell in cells),
    )


def _set_row(cell: Cell) -> tuple[str, ...]:
    means = cell.means
    return (
        f"{cell.budget:,}",
        cell.recipe,
        _format_figure(means["recall"]),
        EMPTY_CELL if cell.recall_difference is None else format_difference(cell.recall_difference),
        *(_format_figure(means[name]) for name in ("full", "complete", "answer", "weighted")),
        f"{100 * (means['redundancy'] or 0):.2f} %",
        _format_figure(means["use"]),
        EMPTY_CELL if cell.price is None else f"{cell.price:,.0f}",
    )


def _format_figure(value: float | None) -> str:
    return EMPTY_CELL if value is None else f"{value:.3f}"


def _format_interval(found: Interval | None) -> str:
    return EMPTY_CELL if found is None else f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
