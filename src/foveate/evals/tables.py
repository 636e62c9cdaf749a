"""A summary as tables: the overall line, each set left out, and every set by budget and recipe.

A table is a title, a head and rows of finished cells; `markdown` and `html` write it down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from foveate.evals.bootstrap import Interval
from foveate.evals.figures import Cell, Overall, Summary

BETTER, WORSE = "▲", "▼"
LEGEND = (
    f"Differences are paired with the baseline's, with 95 % bootstrap intervals; {BETTER} better "
    f"and {WORSE} worse where the interval leaves out 0."
)
_NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Finished cells; every row is as long as the head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(summary: Summary) -> tuple[Table, ...]:
    """All of them, the most important first."""
    found = [overall_table(summary)]
    if len(summary.datasets) > 1 and len(summary.recipes) > 1:
        found.append(left_out_table(summary))
    return (*found, *(set_table(summary, name) for name in summary.datasets))


def overall_table(summary: Summary) -> Table:
    """One row a recipe: what it misses over all sets and budgets, and what that is against."""
    base = summary.baseline
    sets, budgets = len(summary.datasets), len(summary.budgets)
    return Table(
        title=f"Evidence missed, over {_many(sets, 'set')} and {_many(budgets, 'budget')}",
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


def _overall_row(one: Overall, summary: Summary) -> tuple[str, ...]:
    is_base = one.recipe == summary.baseline
    cells = len(summary.datasets) * len(summary.budgets)
    return (
        one.recipe,
        _range(one.missed),
        _NONE if is_base else _range(one.ratio),
        _NONE if is_base else _difference(one.recall_difference),
        _NONE if is_base else _difference(one.weighted_difference),
        f"{100 * one.redundancy:.2f} %",
        str(one.over),
        str(one.failed),
        _NONE if is_base else f"{one.worse} of {cells}",
    )


def left_out_table(summary: Summary) -> Table:
    """The ratio over the other sets, for each set that is left out."""
    return Table(
        title=f"Share of {summary.baseline}'s missed evidence, each set left out in turn",
        head=("recipe", "all", *(f"without {name}" for name in summary.datasets)),
        rows=tuple(
            (
                one.recipe,
                _figure(one.ratio.value if one.ratio else None),
                *(_figure(one.without.get(name)) for name in summary.datasets),
            )
            for one in summary.overall
            if one.recipe != summary.baseline
        ),
    )


def set_table(summary: Summary, name: str) -> Table:
    """A set, by budget and recipe."""
    pools = [pool for pool in summary.pools if pool.dataset == name]
    said = [_many(len(summary.ids[name]), "question")]
    said += [
        f"their candidates hold {_figure(pool.means['recall'])} of the evidence in "
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
        _figure(means["recall"]),
        _NONE if cell.recall_difference is None else _difference(cell.recall_difference),
        *(_figure(means[name]) for name in ("full", "complete", "answer", "weighted")),
        f"{100 * (means['redundancy'] or 0):.2f} %",
        _figure(means["use"]),
        _NONE if cell.price is None else f"{cell.price:,.0f}",
    )


def _figure(value: float | None) -> str:
    return _NONE if value is None else f"{value:.3f}"


def _range(found: Interval | None) -> str:
    return _NONE if found is None else f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _difference(found: Interval) -> str:
    mark = {"better": f" {BETTER}", "worse": f" {WORSE}", "": ""}[found.verdict]
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{mark}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def markdown(table: Table) -> str:
    """The table in Markdown, its columns aligned so that it reads as plain text too."""
    lines = [table.head, *table.rows]
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    widths = [max(3, *(len(line[i]) for line in escaped)) for i in range(len(table.head))]
    shown = [_line(line, widths) for line in escaped]
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n".join([shown[0], f"|{rule}|", *shown[1:]])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"


def html(table: Table) -> str:
    """The table in HTML."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows
    )
    return f"<table>\n<tr>{head}</tr>\n{rows}\n</table>"
