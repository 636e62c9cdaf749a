"""A model's answers as tables: the overall line of each recipe, and every set by budget."""

from __future__ import annotations

from collections.abc import Sequence

from foveate.evals.answers.figures import AnswerCell, Answers, Figure
from foveate.evals.table import NONE, Table, difference, many

_HEADS = {
    "logprob": "log-probability",
    "f1": "F1",
    "exact": "exact",
    "inside": "in output",
    "supported": "supported",
}


def answer_tables(answers: Answers) -> tuple[Table, ...]:
    """The overall one first; columns of measures that nothing has are left out."""
    shown = [name for name in _HEADS if any(cell.figures[name].known for cell in answers.overall)]
    sets = dict.fromkeys(cell.dataset for cell in answers.cells)
    budgets = {cell.budget for cell in answers.cells}
    over = f"{many(len(sets), 'set')} and {many(len(budgets), 'budget')}"
    told = f"at most {answers.tokens} tokens" if answers.tokens else "no answers written"
    title = f"Answers of {answers.model}, over {over}; prompt {answers.prompt}, {told}"
    found = [Table(title=title, head=_head(shown), rows=_rows(answers.overall, shown))]
    for name in sets:
        cells = [cell for cell in answers.cells if cell.dataset == name]
        found.append(
            Table(
                title=f"{name}: answers to {many(cells[0].questions, 'question')}",
                head=("budget", *_head(shown)),
                rows=tuple(
                    (f"{cell.budget:,}", *row)
                    for cell, row in zip(cells, _rows(cells, shown), strict=True)
                ),
            )
        )
    return tuple(found)


def _head(shown: Sequence[str]) -> tuple[str, ...]:
    columns = [head for name in shown for head in (_HEADS[name], "difference")]
    return ("recipe", *columns, "failed")


def _rows(cells: Sequence[AnswerCell], shown: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (
            cell.recipe,
            *(part for name in shown for part in _parts(cell.figures[name], cell.questions)),
            str(cell.failed),
        )
        for cell in cells
    )


def _parts(figure: Figure, questions: int) -> tuple[str, str]:
    """Mean and difference; `of` how many, where not all questions have one."""
    if figure.mean is None:
        return NONE, NONE
    mean = f"{figure.mean:.3f}" + (f" (of {figure.known})" if figure.known < questions else "")
    if figure.difference is None:
        return mean, NONE
    few = f" (of {figure.pairs})" if figure.pairs < questions else ""
    return mean, difference(figure.difference) + few
