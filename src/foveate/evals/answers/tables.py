"""A model's answers as tables: the overall line of each recipe, and every set by budget."""

from __future__ import annotations

from collections.abc import Sequence

from foveate.evals.answers.figures import AnswerCell, AnswersSummary, MeasureSummary
from foveate.evals.table import EMPTY_CELL, Table, format_count, format_difference

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
    """Mean and difference; `of` how many, where not all questions have one."""
    if figure.mean is None:
        return EMPTY_CELL, EMPTY_CELL
    mean = f"{figure.mean:.3f}" + (f" (of {figure.known})" if figure.known < questions else "")
    if figure.difference is None:
        return mean, EMPTY_CELL
    few = f" (of {figure.pairs})" if figure.pairs < questions else ""
    return mean, format_difference(figure.difference) + few
