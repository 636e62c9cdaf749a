"""Rows → what they say: means by set, budget and recipe, and each recipe against the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from foveate._version import __version__
from foveate.core.errors import BadInput
from foveate.evals.bootstrap import RESAMPLES, Interval, interval, resampled_means
from foveate.evals.figures import COMPLETE_LOSS, RECALL_LOSS, Cell, OverallFigures, Summary
from foveate.evals.hygiene import FAULTS
from foveate.evals.rows import Row
from foveate.evals.trials import WHOLE_POOL


@dataclass(frozen=True, slots=True, kw_only=True)
class ResampledMeans:
    """A set's means, one a column (recipe at a budget), and the same resampled: draws x columns."""

    recall: Any
    weighted: Any
    recall_draws: Any
    weighted_draws: Any


def summarise_recipe(
    recipe: str,
    cells: Sequence[Cell],
    sets: Mapping[str, ResampledMeans],
    columns: Sequence[tuple[str, int]],
    baseline: str,
) -> OverallFigures:
    """Every set and budget counts the same."""
    ours = [i for i, column in enumerate(columns) if column[0] == recipe]
    base = [i for i, column in enumerate(columns) if column[0] == baseline]
    mean = {name: 1 - values.recall for name, values in sets.items()}
    missed, missed_draws = _average(sets, ours, "recall")
    known, known_draws = _average(sets, base, "recall")
    read, read_draws = _average(sets, ours, "weighted")
    known_read, known_read_draws = _average(sets, base, "weighted")
    mine = [cell for cell in cells if cell.recipe == recipe]
    theirs = [cell for cell in cells if cell.recipe == baseline]
    reachable = [cell.reachable_missed for cell in mine if cell.reachable_missed is not None]
    return OverallFigures(
        recipe=recipe,
        missed=interval(1 - missed, 1 - missed_draws),
        reachable_missed=fmean(reachable) if reachable else None,
        ratio=_missed_ratio(1 - missed, 1 - known, 1 - missed_draws, 1 - known_draws),
        recall_difference=interval(missed - known, missed_draws - known_draws),
        weighted_difference=interval(read - known_read, read_draws - known_read_draws),
        complete=fmean(cell.means["complete"] or 0.0 for cell in mine),
        tokens=fmean(cell.means["tokens"] or 0.0 for cell in mine),
        redundancy=fmean(cell.means["redundancy"] or 0.0 for cell in mine),
        over=sum(round((cell.means["over"] or 0.0) * cell.questions) for cell in mine),
        failed=sum(cell.failed for cell in mine),
        worse=sum(
            cell.recall_difference is not None and cell.recall_difference.verdict == "worse"
            for cell in mine
        ),
        lower_recall=_count_lower(mine, theirs, "recall", RECALL_LOSS),
        lower_complete=_count_lower(mine, theirs, "complete", COMPLETE_LOSS),
        faults=_sum_faults(cell.faults for cell in mine),
        without=_leave_one_out_ratios(mean, ours, base),
    )


def _count_lower(mine: Sequence[Cell], theirs: Sequence[Cell], name: str, loss: float) -> int:
    """The cells in which this mean is below the baseline's by more than the loss."""
    return sum(
        (their.means[name] or 0.0) - (my.means[name] or 0.0) > loss + 1e-9
        for my, their in zip(mine, theirs, strict=True)
    )


def _sum_faults(counts: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    """All faults together, with a 0 for those that do not occur."""
    total = Counter(dict.fromkeys(FAULTS, 0))
    for found in counts:
        total.update(found)
    return dict(total)


def _average(
    sets: Mapping[str, ResampledMeans], columns: Sequence[int], what: str
) -> tuple[float, Any]:
    """The mean over sets and these columns, and its draws."""
    means = [getattr(values, what)[columns].mean() for values in sets.values()]
    draws = [getattr(values, f"{what}_draws")[:, columns].mean(axis=1) for values in sets.values()]
    return fmean(means), sum(draws) / len(draws)


def _missed_ratio(missed: float, known: float, draws: Any, known_draws: Any) -> Interval | None:
    """Ours over the baseline's, over draws in which that is not 0; None if it is 0."""
    if known <= 0:
        return None
    some = known_draws > 0
    return interval(missed / known, draws[some] / known_draws[some])


def _leave_one_out_ratios(
    missed: Mapping[str, Any], ours: Sequence[int], base: Sequence[int]
) -> Mapping[str, float | None]:
    """The ratio over the other sets, for each set, if there are several."""
    found: dict[str, float | None] = {}
    for left_out in missed if len(missed) > 1 else ():
        others = [values for name, values in missed.items() if name != left_out]
        known = fmean(float(values[base].mean()) for values in others)
        found[left_out] = (
            fmean(float(values[ours].mean()) for values in others) / known if known > 0 else None
        )
    return found


MEAN_NAMES = (
    *("recall", "full", "complete", "answer", "weighted"),
    *("redundancy", "use", "over", "tokens"),
)


RowGroups = Mapping[tuple[str, str, int], Sequence[Row]]
"""(set, recipe, budget) → its rows, in the order of the questions."""


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
    table = _group_rows(rows)
    datasets = tuple(dict.fromkeys(key[0] for key in table))
    recipes = tuple(dict.fromkeys(key[1] for key in table if key[1] != WHOLE_POOL))
    budgets = tuple(sorted({key[2] for key in table if key[1] != WHOLE_POOL}))
    if baseline not in recipes:
        raise BadInput(f"the results have no recipe {baseline!r} to compare with")
    columns = [(recipe, budget) for recipe in recipes for budget in budgets]
    sets = {name: _resample_set(table, name, columns, resamples) for name in datasets}
    cells = _build_cells(table, sets, columns, baseline)
    return Summary(
        version=version,
        tokenizer=tokenizer,
        embedder=embedder,
        baseline=baseline,
        recipes=recipes,
        budgets=budgets,
        cells=cells,
        pools=tuple(
            _build_cell(table[name, WHOLE_POOL, 0], ())
            for name in datasets
            if (name, WHOLE_POOL, 0) in table
        ),
        overall=tuple(
            summarise_recipe(recipe, cells, sets, columns, baseline) for recipe in recipes
        ),
        ids={name: tuple(r.id for r in table[name, *columns[0]]) for name in datasets},
        recalls={
            name: {
                recipe: {
                    b: tuple(r.measures.recall for r in table[name, recipe, b]) for b in budgets
                }
                for recipe in recipes
            }
            for name in datasets
        },
        no_evidence={
            name: ids
            for name in datasets
            if (ids := tuple(r.id for r in table.get((name, WHOLE_POOL, 0), ()) if _is_empty(r)))
        },
    )


def _is_empty(pool: Row) -> bool:
    """Whether the row, one of all candidates joined, holds nothing of the evidence."""
    return pool.measures.recall == 0


def _group_rows(rows: Sequence[Row]) -> RowGroups:
    table: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        table.setdefault((row.dataset, row.recipe, row.budget), []).append(row)
    return table


def _resample_set(
    table: RowGroups, name: str, columns: Sequence[tuple[str, int]], resamples: int
) -> ResampledMeans:
    """Resample both measures with the same draws."""
    groups = [table[name, *column] for column in columns]
    recall = np.array([[row.measures.recall for row in group] for group in groups]).T
    weighted = np.array([[row.measures.weighted for row in group] for group in groups]).T
    both = np.concatenate([recall, weighted], axis=1)
    draws = resampled_means(both, name, resamples=resamples)
    half = len(columns)
    return ResampledMeans(
        recall=recall.mean(axis=0),
        weighted=weighted.mean(axis=0),
        recall_draws=draws[:, :half],
        weighted_draws=draws[:, half:],
    )


def _build_cell(
    rows: Sequence[Row],
    pool: Sequence[Row],
    recall: Interval | None = None,
    weighted: Interval | None = None,
) -> Cell:
    first = rows[0]
    covered = sum(row.measures.covered for row in rows)
    spent = sum(row.measures.tokens for row in rows)
    return Cell(
        dataset=first.dataset,
        budget=first.budget,
        recipe=first.recipe,
        questions=len(rows),
        failed=sum(bool(row.failed) for row in rows),
        means={name: _mean([getattr(row.measures, name) for row in rows]) for name in MEAN_NAMES},
        price=spent / covered if covered else None,
        reachable_missed=_reachable_missed(rows, pool),
        faults=_sum_faults(row.hygiene for row in rows),
        recall_difference=recall,
        weighted_difference=weighted,
    )


def _reachable_missed(rows: Sequence[Row], pool: Sequence[Row]) -> float | None:
    """What the whole pool holds of the evidence and the context does not."""
    if not pool:
        return None
    pairs = zip(rows, pool, strict=True)
    return fmean(max(all_.measures.recall - row.measures.recall, 0.0) for row, all_ in pairs)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _build_cells(
    table: RowGroups,
    sets: Mapping[str, ResampledMeans],
    columns: Sequence[tuple[str, int]],
    baseline: str,
) -> tuple[Cell, ...]:
    found = []
    for name, values in sets.items():
        pool = table.get((name, WHOLE_POOL, 0), ())
        for i, (recipe, budget) in sorted(enumerate(columns), key=lambda item: item[1][1]):
            if recipe == baseline:
                found.append(_build_cell(table[name, recipe, budget], pool))
                continue
            base = columns.index((baseline, budget))
            recall, weighted = (
                interval(means[i] - means[base], draws[:, i] - draws[:, base])
                for means, draws in (
                    (values.recall, values.recall_draws),
                    (values.weighted, values.weighted_draws),
                )
            )
            found.append(_build_cell(table[name, recipe, budget], pool, recall, weighted))
    return tuple(found)
