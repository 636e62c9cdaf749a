"""One recipe over all sets and budgets, against the baseline, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from foveate.evals.bootstrap import Interval, interval
from foveate.evals.figures import Cell, OverallFigures


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
    return OverallFigures(
        recipe=recipe,
        missed=interval(1 - missed, 1 - missed_draws),
        ratio=_missed_ratio(1 - missed, 1 - known, 1 - missed_draws, 1 - known_draws),
        recall_difference=interval(missed - known, missed_draws - known_draws),
        weighted_difference=interval(read - known_read, read_draws - known_read_draws),
        redundancy=fmean(cell.means["redundancy"] or 0.0 for cell in mine),
        over=sum(round((cell.means["over"] or 0.0) * cell.questions) for cell in mine),
        failed=sum(cell.failed for cell in mine),
        worse=sum(_is_worse(cell) for cell in mine),
        without=_leave_one_out_ratios(mean, ours, base),
    )


def _is_worse(cell: Cell) -> bool:
    return cell.recall_difference is not None and cell.recall_difference.verdict == "worse"


def _average(
    sets: Mapping[str, ResampledMeans], columns: Sequence[int], what: str
) -> tuple[float, Any]:
    """The mean over sets and these columns, and its draws."""
    means = [getattr(values, what)[columns].mean() for values in sets.values()]
    draws = [getattr(values, f"{what}_draws")[:, columns].mean(axis=1) for values in sets.values()]
    return fmean(means), sum(draws) / len(draws)


def _missed_ratio(missed: float, known: float, draws: Any, known_draws: Any) -> Interval | None:
    """Ours over the baseline's, None where that is 0; over the draws in which it is not."""
    if known <= 0:
        return None
    some = known_draws > 0
    return interval(missed / known, draws[some] / known_draws[some])


def _leave_one_out_ratios(
    missed: Mapping[str, Any], ours: Sequence[int], base: Sequence[int]
) -> Mapping[str, float | None]:
    """The ratio over the other sets, for each set; nothing where there is one set alone."""
    found: dict[str, float | None] = {}
    for left_out in missed if len(missed) > 1 else ():
        others = [values for name, values in missed.items() if name != left_out]
        known = fmean(float(values[base].mean()) for values in others)
        found[left_out] = (
            fmean(float(values[ours].mean()) for values in others) / known if known > 0 else None
        )
    return found
