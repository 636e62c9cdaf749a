"""A summary as a sentence, as a small table, and as all the other tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isinf
from statistics import fmean

from foveate.evals.bootstrap import Interval
from foveate.evals.figures import AnswersSummary, Cell, Figure, Summary
from foveate.evals.scores import split_label

BETTER, WORSE = "▲", "▼"
EMPTY_CELL = "-"

_FIGURE = re.compile(r"[-+]?\d|-\Z")
_MARKUP = re.compile(r"[\\<|]|&(?=[#\w])|(?<=\])\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Finished cells; every row is as long as the head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def format_difference(found: Interval | None) -> str:
    """Value, interval if there is one, and a mark if it excludes 0."""
    if found is None:
        return EMPTY_CELL
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


def table_to_markdown(table: Table, width: int | None = None) -> str:
    """The table in Markdown, its columns aligned so that it reads as plain text too.

    `width`: columns that it may have; names are shortened for that, figures are not.
    """
    lines = [[literal(cell) for cell in line] for line in (table.head, *table.rows)]
    columns = [*zip(*lines, strict=True)]
    sizes = [max(3, *map(len, cells)) for cells in columns]
    if width is not None:
        least = [max(3, *(len(c) for c in cells if _FIGURE.match(c)), 0) for cells in columns]
        room = width - 3 * len(sizes) - 1
        while sum(sizes) > room and sizes != least:
            sizes[max(range(len(sizes)), key=lambda i: sizes[i] - least[i])] -= 1
    shown = [
        f"| {' | '.join(_fill(cell, size) for cell, size in zip(line, sizes, strict=True))} |"
        for line in lines
    ]
    rule = "|".join("-" * (size + 2) for size in sizes)
    return "\n".join([shown[0], f"|{rule}|", *shown[1:]])


def _fill(cell: str, size: int) -> str:
    return cell.ljust(size) if len(cell) <= size else f"{cell[: size - 1]}…"


def table_to_html(table: Table) -> str:
    """The table in HTML."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows
    )
    return f"<table>\n<tr>{head}</tr>\n{rows}\n</table>"


LEGEND = (
    f"Differences are paired with the baseline's, with 95 % bootstrap intervals; {BETTER} better "
    f"and {WORSE} worse where the interval excludes 0. One question of a set says nothing about "
    "others, so there is no interval."
)


def summary_lines(summary: Summary) -> Iterator[str]:
    """What a person wants to know first: a sentence for each recipe, the baseline's apart."""
    base = next(one for one in summary.overall if one.recipe == summary.baseline)
    over = f", over {len(summary.budgets)} budgets" if len(summary.budgets) > 1 else ""
    found = {name: summary.count(name, "complete") for name in summary.recipes}
    others = [one for one in summary.overall if one is not base]
    for one in others:
        change = _format_change(one.mean("tokens"), base.mean("tokens"))
        said = f"{one.recipe} finds {found[one.recipe]:,} of {one.questions:,}"
        yield f"{said}, {base.recipe} {found[base.recipe]:,}, with {change}{over}"
    if not others:
        yield f"{base.recipe} finds {found[base.recipe]:,} of {base.questions:,}{over}"
    for one in summary.answers.overall if summary.answers else ():
        figures = (
            f"{head} {figure.mean:.3f}"
            for name, head in ANSWER_HEADS.items()
            if (figure := one.figures[name]).mean is not None
        )
        yield f"answers from {one.recipe}: {', '.join(figures) or 'none'}"


def _format_change(tokens: float, base: float) -> str:
    """The tokens beside the baseline's.

    >>> _format_change(84, 100), _format_change(103, 100), _format_change(0, 0)
    ('16 % fewer tokens', '3 % more tokens', 'as many tokens')
    """
    change = round(100 * (tokens / base - 1)) if base else 0
    if not change:
        return "as many tokens"
    return f"{abs(change)} % {'fewer' if change < 0 else 'more'} tokens"


COLUMNS: Mapping[str, Callable[[Cell], str]] = {
    "budget": lambda cell: f"{cell.budget:,}",
    "recipe": lambda cell: cell.recipe,
    "recall": lambda cell: _format_mean(cell.figures["recall"]),
    "difference": lambda cell: format_difference(cell.figures["recall"].difference),
    "complete": lambda cell: _format_mean(cell.figures["complete"]),
    "answer": lambda cell: _format_mean(cell.figures["answer"]),
    "weighted": lambda cell: _format_mean(cell.figures["weighted"]),
    "redundancy": lambda cell: f"{100 * cell.mean('redundancy'):.2f} %",
    "use": lambda cell: _format_mean(cell.figures["use"]),
    "over": lambda cell: f"{100 * cell.mean('over'):.2f} %",
    "tokens": lambda cell: f"{cell.mean('tokens'):,.0f}",
    "per evidence": lambda cell: EMPTY_CELL if cell.price is None else f"{cell.price:,.0f}",
    "missed": lambda cell: _format_interval(cell.missed),
    "of the baseline's": lambda cell: _format_interval(cell.ratio),
    "empty": lambda cell: str(cell.failed),
}
"""What a table shows of a cell, by the head of its column."""


def _cell_table(title: str, head: Sequence[str], cells: Iterable[Cell]) -> Table:
    rows = (tuple(COLUMNS[name](cell) for name in head) for cell in cells)
    return Table(title=title, head=tuple(head), rows=tuple(rows))


def overall_table(summary: Summary) -> Table:
    """One row a recipe, over all sets and budgets: what it finds, and what that takes."""
    sets, budgets = len(summary.questions), len(summary.budgets)
    return _cell_table(
        f"Over {format_count(sets, 'set')} and {format_count(budgets, 'budget')}",
        ("recipe", "recall", "difference", "redundancy", "use", "tokens", "per evidence"),
        summary.overall,
    )


def full_tables(summary: Summary) -> Iterator[Table]:
    """All but the overall one, the most important first."""
    yield missed_table(summary)
    if summary.pools:
        yield reachable_table(summary)
    if len({split_label(name)[1] for name in summary.questions}) > 1:
        yield scores_table(summary)
    if summary.answers is not None:
        yield answer_table(summary.answers)
    for name in summary.questions:
        yield set_table(summary, name)


def missed_table(summary: Summary) -> Table:
    """One row a recipe: what it misses, what that is against, the positions, and what failed."""
    return _cell_table(
        "Evidence missed, over the same",
        ("recipe", "missed", "of the baseline's", "complete", "weighted", "over", "empty"),
        summary.overall,
    )


def reachable_table(summary: Summary) -> Table:
    """What the candidates hold and a context does not, by budget, beside the baseline's.

    The mean over the sets, each of equal weight.
    """
    held = {pool.dataset: pool.mean("recall") for pool in summary.pools}
    missed: dict[tuple[int, str], list[float]] = {}
    for cell in summary.cells:
        lost = max(held[cell.dataset] - cell.mean("recall"), 0.0)
        missed.setdefault((cell.budget, cell.recipe), []).append(lost)
    means = {key: fmean(values) for key, values in missed.items()}

    def share(budget: int, recipe: str) -> str:
        base = means[budget, summary.baseline]
        return f"{means[budget, recipe] / base:.2f}" if base else EMPTY_CELL

    return Table(
        title="Reachable evidence missed, by budget",
        head=("budget", "recipe", "missed", "of the baseline's"),
        rows=tuple(
            (f"{key[0]:,}", key[1], f"{mean:.3f}", share(*key))
            for key, mean in sorted(means.items(), key=lambda item: item[0][0])
        ),
    )


def scores_table(summary: Summary) -> Table:
    """What each recipe misses with the scores of each variant, over the sets of that variant."""
    missed: dict[tuple[str, str], list[float]] = {}
    for cell in summary.cells:
        key = (cell.recipe, split_label(cell.dataset)[1])
        missed.setdefault(key, []).append(1 - cell.mean("recall"))
    variants = dict.fromkeys(variant for _, variant in missed)
    return Table(
        title="Evidence missed, by the scores of the candidates",
        head=("recipe", *variants),
        rows=tuple(
            (recipe, *(f"{fmean(missed[recipe, name]):.3f}" for name in variants))
            for recipe in summary.recipes
        ),
    )


def set_table(summary: Summary, name: str) -> Table:
    """A set, by budget and recipe."""
    said = [format_count(summary.questions[name], "question")]
    said += [
        f"their candidates hold {pool.mean('recall'):.3f} of the evidence in "
        f"{pool.mean('tokens'):,.0f} tokens"
        for pool in summary.pools
        if pool.dataset == name
    ]
    head = "budget", "recipe", "recall", "difference", "complete", "answer", "weighted", "tokens"
    cells = (cell for cell in summary.cells if cell.dataset == name)
    return _cell_table(f"{name}: {'; '.join(said)}", head, cells)


ANSWER_HEADS = {
    "logprob": "log-probability",
    "f1": "F1",
    "exact": "exact",
    "inside": "in output",
    "supported": "supported",
}


def answer_table(answers: AnswersSummary) -> Table:
    """Every measure of each recipe, over all sets and budgets; those that nothing has are not."""
    told = f"at most {answers.tokens} tokens" if answers.tokens else "no answers written"
    failed = ", ".join(f"{cell.recipe} {cell.failed}" for cell in answers.overall if cell.failed)
    return Table(
        title=f"Answers of {answers.model}, {told}" + (f"; failed: {failed}" if failed else ""),
        head=("recipe", "measure", "mean", "difference", "questions"),
        rows=tuple(row for cell in answers.overall for row in _answer_rows(cell)),
    )


def _answer_rows(cell: Cell) -> Iterator[tuple[str, ...]]:
    """A row a measure, with the questions that have it, and those that both sides have."""
    for name, figure in cell.figures.items():
        if not figure.known:
            continue
        both = f", {figure.pairs} both" if figure.difference is not None else ""
        yield (
            cell.recipe,
            ANSWER_HEADS[name],
            _format_mean(figure),
            format_difference(figure.difference),
            f"{figure.known} of {cell.questions}{both}",
        )


def _format_mean(figure: Figure) -> str:
    return EMPTY_CELL if figure.mean is None else f"{figure.mean:.3f}"


def _format_interval(found: Interval | None) -> str:
    if found is None:
        return EMPTY_CELL
    if isinf(found.high):
        return f"{found.value:.3f}"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
