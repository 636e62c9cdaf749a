"""A summary as tables: the overall line, each set left out, and every set by budget and recipe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isinf
from statistics import fmean

from foveate.evals.bootstrap import Interval
from foveate.evals.figures import (
    COMPLETE_LOSS,
    RECALL_LOSS,
    AnswerCell,
    AnswersSummary,
    Cell,
    MeasureSummary,
    OverallFigures,
    Summary,
)
from foveate.evals.hygiene import FAULTS
from foveate.evals.scores import split_label

BETTER, WORSE = "▲", "▼"
EMPTY_CELL = "-"

_MARKUP = re.compile(r"[\\<|]|&(?=[#\w])|(?<=\])\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Finished cells; every row is as long as the head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def format_difference(found: Interval) -> str:
    """Value, interval if there is one, and a mark if it excludes 0."""
    if isinf(found.high):
        return f"{found.value:+.3f}"
    mark = {"better": f" {BETTER}", "worse": f" {WORSE}", "": ""}[found.verdict]
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{mark}"


def format_count(count: int, noun: str) -> str:
    """The count with its noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def literal(text: str) -> str:
    r"""A text that Markdown shows as it is: on one line, without tags, entities and links.

    >>> literal("<b> [x](y)")
    '\\<b> [x]\\(y)'
    """
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def table_to_markdown(table: Table) -> str:
    """The table in Markdown, its columns aligned so that it reads as plain text too."""
    lines = [table.head, *table.rows]
    escaped = [[literal(cell) for cell in line] for line in lines]
    widths = [max(3, *(len(line[i]) for line in escaped)) for i in range(len(table.head))]
    padded = [[cell.ljust(w) for cell, w in zip(line, widths, strict=True)] for line in escaped]
    shown = [f"| {' | '.join(line)} |" for line in padded]
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n".join([shown[0], f"|{rule}|", *shown[1:]])


def table_to_html(table: Table) -> str:
    """The table in HTML."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows
    )
    return f"<table>\n<tr>{head}</tr>\n{rows}\n</table>"


_COLUMN_HEADS = {
    "logprob": "log-probability",
    "f1": "F1",
    "exact": "exact",
    "inside": "in output",
    "supported": "supported",
}


def answer_tables(answers: AnswersSummary) -> tuple[Table, ...]:
    """The overall one first; columns of measures that nothing has are left out."""
    shown = [
        name for name in _COLUMN_HEADS if any(cell.figures[name].known for cell in answers.overall)
    ]
    sets = dict.fromkeys(cell.dataset for cell in answers.cells)
    budgets = {cell.budget for cell in answers.cells}
    over = f"{format_count(len(sets), 'set')} and {format_count(len(budgets), 'budget')}"
    told = f"at most {answers.tokens} tokens" if answers.tokens else "no answers written"
    title = f"Answers of {answers.model}, over {over}; prompt {answers.prompt}, {told}"
    found = [Table(title=title, head=_table_head(shown), rows=_table_rows(answers.overall, shown))]
    for name in sets:
        cells = [cell for cell in answers.cells if cell.dataset == name]
        found.append(
            Table(
                title=f"{name}: answers to {format_count(cells[0].questions, 'question')}",
                head=("budget", *_table_head(shown)),
                rows=tuple(
                    (f"{cell.budget:,}", *row)
                    for cell, row in zip(cells, _table_rows(cells, shown), strict=True)
                ),
            )
        )
    return tuple(found)


def _table_head(shown: Sequence[str]) -> tuple[str, ...]:
    columns = [head for name in shown for head in (_COLUMN_HEADS[name], "difference")]
    return ("recipe", *columns, "failed")


def _table_rows(cells: Sequence[AnswerCell], shown: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            cell.recipe,
            *(
                part
                for name in shown
                for part in _format_measure(cell.figures[name], cell.questions)
            ),
            str(cell.failed),
        )
        for cell in cells
    )


def _format_measure(figure: MeasureSummary, questions: int) -> tuple[str, str]:
    """Mean and difference, with the number of questions if not all have one."""
    if figure.mean is None:
        return EMPTY_CELL, EMPTY_CELL
    mean = f"{figure.mean:.3f}" + (f" (of {figure.known})" if figure.known < questions else "")
    if figure.difference is None:
        return mean, EMPTY_CELL
    few = f" (of {figure.pairs})" if figure.pairs < questions else ""
    return mean, format_difference(figure.difference) + few


LEGEND = (
    f"Differences are paired with the baseline's, with 95 % bootstrap intervals; {BETTER} better "
    f"and {WORSE} worse where the interval excludes 0. One question of a set says nothing about "
    "others, so there is no interval."
)


def summary_tables(summary: Summary) -> tuple[Table, ...]:
    """All of them, the most important first."""
    found = [overall_table(summary)]
    if len({split_label(name)[1] for name in summary.datasets}) > 1:
        found.append(scores_table(summary))
    found.append(hygiene_table(summary))
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
            *("recipe", "missed", f"of {base}'s", "reachable missed"),
            *("recall, difference", "weighted, difference", "complete", "tokens"),
            *("redundancy", "over", "no context", "worse in"),
            *(f"recall -{RECALL_LOSS:g} in", f"complete -{COMPLETE_LOSS:g} in"),
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
        _format_figure(one.reachable_missed),
        EMPTY_CELL if is_base else format_difference(one.recall_difference),
        EMPTY_CELL if is_base else format_difference(one.weighted_difference),
        _format_figure(one.complete),
        f"{one.tokens:,.0f}",
        f"{100 * one.redundancy:.2f} %",
        str(one.over),
        str(one.failed),
        *(
            EMPTY_CELL if is_base else f"{count} of {cells}"
            for count in (one.worse, one.lower_recall, one.lower_complete)
        ),
    )


def hygiene_table(summary: Summary) -> Table:
    """How often each fault occurs in the contexts of a recipe."""
    counts = (f"{one.recipe} {sum(one.faults.values()):,}" for one in summary.overall)
    return Table(
        title=f"Hygiene: {', '.join(counts)}",
        head=("recipe", *(name.replace("_", " ") for name in FAULTS)),
        rows=tuple(
            (one.recipe, *(f"{one.faults[name]:,}" for name in FAULTS)) for one in summary.overall
        ),
    )


def scores_table(summary: Summary) -> Table:
    """What each recipe misses with the scores of each variant, over the sets of that variant."""
    variants = dict.fromkeys(split_label(name)[1] for name in summary.datasets)
    return Table(
        title="Evidence missed, by the scores of the candidates",
        head=("recipe", *variants),
        rows=tuple(
            (recipe, *(_format_figure(_missed(summary, recipe, name)) for name in variants))
            for recipe in summary.recipes
        ),
    )


def _missed(summary: Summary, recipe: str, variant: str) -> float:
    """The mean over the sets with these scores, and over the budgets."""
    return fmean(
        1 - (cell.means["recall"] or 0.0)
        for cell in summary.cells
        if cell.recipe == recipe and split_label(cell.dataset)[1] == variant
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
    if lacking := summary.no_evidence.get(name):
        said.append(f"those of {format_count(len(lacking), 'question')} hold none of it")
    cells = [cell for cell in summary.cells if cell.dataset == name]
    return Table(
        title=f"{name}: {'; '.join(said)}",
        head=(
            *("budget", "recipe", "recall", "difference", "reachable missed", "full", "complete"),
            *("answer", "weighted", "redundancy", "tokens", "use", "tokens per evidence"),
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
        _format_figure(cell.reachable_missed),
        *(_format_figure(means[name]) for name in ("full", "complete", "answer", "weighted")),
        f"{100 * (means['redundancy'] or 0):.2f} %",
        f"{means['tokens'] or 0:,.0f}",
        _format_figure(means["use"]),
        EMPTY_CELL if cell.price is None else f"{cell.price:,.0f}",
    )


def _format_figure(value: float | None) -> str:
    return EMPTY_CELL if value is None else f"{value:.3f}"


def _format_interval(found: Interval | None) -> str:
    if found is None or isinf(found.high):
        return _format_figure(None if found is None else found.value)
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
