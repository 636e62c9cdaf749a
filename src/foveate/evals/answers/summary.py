"""Summarises outcomes by set, budget and recipe, and compares recipes with the baseline.

Differences are paired: taken over the questions with a value on both sides, with the same draws for
every column of a set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np

from foveate.evals.answers.outcome import Outcome
from foveate.evals.bootstrap import interval, resampled_means
from foveate.evals.figures import MEASURES, AnswerCell, AnswersSummary, MeasureSummary

ColumnKey: TypeAlias = tuple[str, int, str]
"""Recipe, budget, measure."""


def summarise_answers(
    outcomes: Sequence[Outcome],
    *,
    baseline: str,
    model: str,
    prompt: str = "grounded",
    tokens: int = 64,
) -> AnswersSummary:
    """The figures of a finished run."""
    table: dict[str, dict[tuple[str, int], list[Outcome]]] = {}
    for one in outcomes:
        table.setdefault(one.dataset, {}).setdefault((one.recipe, one.budget), []).append(one)
    cells, draws = [], {}
    for name, groups in table.items():
        draws[name] = _resample_differences(name, groups, baseline)
        for recipe, budget in sorted(groups, key=lambda group: group[1]):
            cells.append(_build_cell(recipe, budget, groups, draws[name], baseline))
    recipes = dict.fromkeys(one.recipe for one in outcomes)
    return AnswersSummary(
        model=model,
        prompt=prompt,
        tokens=tokens,
        cells=tuple(cells),
        overall=tuple(_build_overall_cell(recipe, cells, draws) for recipe in recipes),
    )


def _resample_differences(
    name: str, groups: Mapping[tuple[str, int], Sequence[Outcome]], baseline: str
) -> Mapping[ColumnKey, Any]:
    """Resampled mean differences of each column with pairs; NaN for a draw without one."""
    columns: list[ColumnKey] = []
    values: list[list[float]] = []
    for (recipe, budget), group in groups.items():
        for measure in MEASURES if recipe != baseline else ():
            pairs = _paired_differences(group, groups[baseline, budget], measure)
            if any(pair is not None for pair in pairs):
                columns.append((recipe, budget, measure))
                values.append([pair or 0.0 for pair in pairs])
                values.append([float(pair is not None) for pair in pairs])
    if not columns:
        return {}
    means = resampled_means(np.array(values).T, name)
    sums, shares = means[:, 0::2], means[:, 1::2]
    found = np.divide(sums, shares, out=np.full_like(sums, np.nan), where=shares > 0)
    return {column: found[:, i] for i, column in enumerate(columns)}


def _paired_differences(
    ours: Sequence[Outcome], base: Sequence[Outcome], measure: str
) -> list[float | None]:
    """Each question's difference; None if a side has no value."""
    found = []
    for mine, other in zip(ours, base, strict=True):
        a, b = getattr(mine, measure), getattr(other, measure)
        found.append(None if a is None or b is None else a - b)
    return found


def _build_cell(
    recipe: str,
    budget: int,
    groups: Mapping[tuple[str, int], Sequence[Outcome]],
    draws: Mapping[ColumnKey, Any],
    baseline: str,
) -> AnswerCell:
    group = groups[recipe, budget]
    figures = {}
    for measure in MEASURES:
        values = [v for one in group if (v := getattr(one, measure)) is not None]
        pairs = [
            p
            for p in _paired_differences(group, groups[baseline, budget], measure)
            if p is not None
        ]
        drawn = draws.get((recipe, budget, measure))
        figures[measure] = MeasureSummary(
            mean=fmean(values) if values else None,
            known=len(values),
            difference=None if drawn is None else interval(fmean(pairs), _drop_nan(drawn)),
            pairs=len(pairs) if drawn is not None else 0,
        )
    return AnswerCell(
        dataset=group[0].dataset,
        budget=budget,
        recipe=recipe,
        questions=len(group),
        failed=sum(bool(one.failed) for one in group),
        figures=figures,
    )


def _build_overall_cell(
    recipe: str, cells: Sequence[AnswerCell], draws: Mapping[str, Mapping[ColumnKey, Any]]
) -> AnswerCell:
    """The mean over sets and budgets that have the measure."""
    mine = [cell for cell in cells if cell.recipe == recipe]
    figures = {}
    for measure in MEASURES:
        found = [cell.figures[measure] for cell in mine]
        means = [one.mean for one in found if one.mean is not None]
        compared = [one.difference.value for one in found if one.difference is not None]
        drawn = [
            column
            for cell in mine
            if (column := draws[cell.dataset].get((recipe, cell.budget, measure))) is not None
        ]
        figures[measure] = MeasureSummary(
            mean=fmean(means) if means else None,
            known=sum(one.known for one in found),
            difference=interval(fmean(compared), _drop_nan(sum(drawn) / len(drawn)))
            if drawn
            else None,
            pairs=sum(one.pairs for one in found),
        )
    return AnswerCell(
        dataset="",
        budget=0,
        recipe=recipe,
        questions=sum(cell.questions for cell in mine),
        failed=sum(cell.failed for cell in mine),
        figures=figures,
    )


def _drop_nan(draws: Any) -> Any:
    return draws[~np.isnan(draws)]
