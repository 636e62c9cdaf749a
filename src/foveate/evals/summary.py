"""Rows → what they say: means by set, budget and recipe, and each recipe against the baseline.

The rows of contexts and those of a model's answers are summarised alike. Differences are paired:
taken over the questions with a value on both sides, with the same draws for every column of a set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np

from foveate._version import __version__
from foveate.core.errors import BadInput
from foveate.evals.bootstrap import RESAMPLES, Interval, interval, resampled_means
from foveate.evals.figures import AnswersSummary, Cell, Figure, Summary
from foveate.evals.rows import Row
from foveate.evals.trials import WHOLE_POOL

EVIDENCE = (
    *("recall", "complete", "answer", "weighted"),
    *("redundancy", "use", "over", "tokens", "covered"),
)
"""Measures of a context."""
COMPARED = ("recall", "complete", "weighted")
"""Those of a context whose differences have intervals."""
ANSWERS = ("logprob", "f1", "exact", "inside", "supported")
"""Measures of a model's answer, all of which are compared."""

SetRows: TypeAlias = Mapping[tuple[str, int], Sequence[Row]]
"""(recipe, budget) → its rows in a set, in the order of the questions."""
Draws: TypeAlias = Mapping[tuple[str, int, str], Any]
"""(recipe, budget, measure) → resampled mean differences."""


def summarise(
    rows: Sequence[Row],
    *,
    baseline: str = "naive",
    version: str = __version__,
    tokenizer: str = "",
    embedder: str = "",
    resamples: int = RESAMPLES,
) -> Summary:
    """The figures of a finished run."""
    sets = _group_rows(row for row in rows if row.recipe != WHOLE_POOL)
    pools = _group_rows(row for row in rows if row.recipe == WHOLE_POOL)
    columns = next(iter(sets.values()), {})
    recipes = tuple(dict.fromkeys(recipe for recipe, _ in columns))
    budgets = tuple(sorted({budget for _, budget in columns}))
    if baseline not in recipes:
        raise BadInput(f"the results have no recipe {baseline!r} to compare with")
    cells, overall = _compare(sets, baseline, EVIDENCE, COMPARED, resamples)
    missed = _missed(sets, recipes, recipes.index(baseline), resamples)
    return Summary(
        version=version,
        tokenizer=tokenizer,
        embedder=embedder,
        baseline=baseline,
        recipes=recipes,
        budgets=budgets,
        cells=cells,
        pools=tuple(_build_cell(g[WHOLE_POOL, 0], (), EVIDENCE, {}) for g in pools.values()),
        overall=tuple(
            replace(cell, missed=share, ratio=ratio)
            for cell, (share, ratio) in zip(overall, missed, strict=True)
        ),
    )


def summarise_answers(
    rows: Sequence[Row], *, baseline: str, model: str, tokens: int = 64
) -> AnswersSummary:
    """The figures of a model's answers."""
    cells, overall = _compare(_group_rows(rows), baseline, ANSWERS, ANSWERS, RESAMPLES)
    return AnswersSummary(model=model, tokens=tokens, cells=cells, overall=overall)


def _group_rows(rows: Iterable[Row]) -> dict[str, dict[tuple[str, int], list[Row]]]:
    sets: dict[str, dict[tuple[str, int], list[Row]]] = {}
    for row in rows:
        sets.setdefault(row.dataset, {}).setdefault((row.recipe, row.budget), []).append(row)
    return sets


def _compare(
    sets: Mapping[str, SetRows],
    baseline: str,
    names: Sequence[str],
    compared: Sequence[str],
    resamples: int,
) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    """The cells set by set and budget by budget, and one a recipe over all of them."""
    cells, draws = [], {}
    for name, groups in sets.items():
        draws[name] = _resample_differences(name, groups, baseline, compared, resamples)
        for recipe, budget in sorted(groups, key=lambda column: column[1]):
            rows, base = groups[recipe, budget], groups[baseline, budget]
            cells.append(_build_cell(rows, base, names, draws[name]))
    recipes = dict.fromkeys(cell.recipe for cell in cells)
    return tuple(cells), tuple(_overall_cell(recipe, cells, names, draws) for recipe in recipes)


def _resample_differences(
    name: str, groups: SetRows, baseline: str, compared: Sequence[str], resamples: int
) -> Draws:
    """Resampled mean differences of each column with pairs; NaN for a draw without one."""
    columns: list[tuple[str, int, str]] = []
    values: list[list[float]] = []
    for (recipe, budget), group in groups.items():
        for measure in compared if recipe != baseline else ():
            pairs = _paired_differences(group, groups[baseline, budget], measure)
            if any(pair is not None for pair in pairs):
                columns.append((recipe, budget, measure))
                values.append([pair or 0.0 for pair in pairs])
                values.append([float(pair is not None) for pair in pairs])
    if not columns:
        return {}
    means = resampled_means(np.array(values).T, name, resamples=resamples)
    sums, shares = means[:, 0::2], means[:, 1::2]
    found = np.divide(sums, shares, out=np.full_like(sums, np.nan), where=shares > 0)
    return {column: found[:, i] for i, column in enumerate(columns)}


def _paired_differences(
    ours: Sequence[Row], base: Sequence[Row], measure: str
) -> list[float | None]:
    """Each question's difference; None if a side has no value."""
    found = []
    for mine, other in zip(ours, base, strict=True):
        a, b = mine.measures[measure], other.measures[measure]
        found.append(None if a is None or b is None else a - b)
    return found


def _build_cell(
    rows: Sequence[Row], base: Sequence[Row], names: Sequence[str], draws: Draws
) -> Cell:
    first = rows[0]
    figures = {}
    for measure in names:
        values = [v for row in rows if (v := row.measures[measure]) is not None]
        drawn = draws.get((first.recipe, first.budget, measure))
        pairs = _paired_differences(rows, base, measure) if drawn is not None else ()
        known = [pair for pair in pairs if pair is not None]
        figures[measure] = _figure(values, len(values), known, drawn, len(known))
    return Cell(
        dataset=first.dataset,
        budget=first.budget,
        recipe=first.recipe,
        questions=len(rows),
        failed=sum(bool(row.failed) for row in rows),
        figures=figures,
    )


def _overall_cell(
    recipe: str, cells: Sequence[Cell], names: Sequence[str], draws: Mapping[str, Draws]
) -> Cell:
    """The mean over the sets and budgets that have the measure, each counting the same."""
    mine = [cell for cell in cells if cell.recipe == recipe]
    figures = {}
    for measure in names:
        found = [cell.figures[measure] for cell in mine]
        keys = [(cell.dataset, (recipe, cell.budget, measure)) for cell in mine]
        drawn = [draws[name][key] for name, key in keys if key in draws[name]]
        figures[measure] = _figure(
            [one.mean for one in found if one.mean is not None],
            sum(one.known for one in found),
            [one.difference.value for one in found if one.difference is not None],
            sum(drawn) / len(drawn) if drawn else None,
            sum(one.pairs for one in found),
        )
    return Cell(
        dataset="",
        budget=0,
        recipe=recipe,
        questions=sum(cell.questions for cell in mine),
        failed=sum(cell.failed for cell in mine),
        figures=figures,
    )


def _figure(
    values: Sequence[float], known: int, differences: Sequence[float], draws: Any, pairs: int
) -> Figure:
    """The means of values and of differences, with an interval by the draws of the latter."""
    if draws is None:
        return Figure(mean=fmean(values) if values else None, known=known)
    found = interval(fmean(differences), draws[~np.isnan(draws)])
    return Figure(mean=fmean(values), known=known, difference=found, pairs=pairs)


def _missed(
    sets: Mapping[str, SetRows], recipes: Sequence[str], base: int, resamples: int
) -> Iterator[tuple[Interval, Interval | None]]:
    """What each recipe misses over all sets and budgets, and the ratio to what the baseline does.

    The ratio is over the draws in which the baseline misses something.
    """
    means, draws = [], []
    for name, groups in sets.items():
        found = {c: [r.measures["recall"] or 0.0 for r in rows] for c, rows in groups.items()}
        recalls = np.array(
            [np.mean([found[c] for c in found if c[0] == recipe], axis=0) for recipe in recipes]
        ).T
        means.append(recalls.mean(axis=0))
        draws.append(resampled_means(recalls, name, resamples=resamples))
    missed, drawn = 1 - np.mean(means, axis=0), 1 - np.mean(draws, axis=0)
    some = drawn[:, base] > 0
    for i in range(len(recipes)):
        ratio = None
        if missed[base] > 0:
            ratio = interval(missed[i] / missed[base], drawn[some, i] / drawn[some, base])
        yield interval(missed[i], drawn[:, i]), ratio


RECALL_LOSS = 0.01
"""How far a recipe's recall, over all sets and budgets, may be below the baseline's."""


def find_losses(summary: Summary) -> list[str]:
    """What a recipe loses against the baseline, a sentence each with the figure and the limit."""
    found = []
    for one in summary.overall:
        difference = one.figures["recall"].difference
        if difference is not None and difference.value < -RECALL_LOSS - 1e-9:
            found.append(
                f"{one.recipe} recalls less than {summary.baseline}: {difference.value:+.4f}; "
                f"the limit is -{RECALL_LOSS:g}"
            )
        over = summary.count(one.recipe, "over")
        if over and one.recipe != summary.baseline:
            found.append(f"{one.recipe} has contexts over their budget: {over}; the limit is 0")
    return found
