"""The figures of an evaluation: cells, overall lines, the summary, and how JSON has them.

*Missed* is 1 - evidence recall, averaged over sets and budgets with equal weight. The *ratio* is a
recipe's missed over the baseline's. *Without* a set is the ratio over the other sets, which shows
tuning to one set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from math import isfinite
from typing import Any

from foveate.evals.bootstrap import Interval

RECALL_LOSS, COMPLETE_LOSS = 0.01, 0.03
"""How far a cell may be below the baseline's before it counts as lower."""

MEASURES = ("logprob", "f1", "exact", "inside", "supported")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSummary:
    """One measure. `mean`: over the `known` questions with a value, None without any.

    `difference`: from the baseline, over the `pairs` questions with both values.
    """

    mean: float | None
    known: int
    difference: Interval | None = None
    pairs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCell:
    """A recipe on a set at a budget; over all of them where `dataset` is empty and `budget` 0.

    `failed`: questions of which a call failed.
    """

    dataset: str
    budget: int
    recipe: str
    questions: int
    failed: int
    figures: Mapping[str, MeasureSummary]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersSummary:
    """A model's answers. `overall`: one a recipe, over sets and budgets of equal weight."""

    model: str
    prompt: str
    tokens: int
    overall: tuple[AnswerCell, ...]
    cells: tuple[AnswerCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A recipe on a set at a budget. `recall_difference`: from the baseline, None for itself.

    `price`: tokens of all contexts over covered evidence units. `failed`: questions to which
    nothing fitted. `reachable_missed`: evidence that the whole pool holds and the context does not,
    None without the whole pool. `faults`: those of all contexts, by their names.
    """

    dataset: str
    budget: int
    recipe: str
    questions: int
    failed: int
    means: Mapping[str, float | None]
    price: float | None
    reachable_missed: float | None = None
    faults: Mapping[str, int] = field(default_factory=dict)
    recall_difference: Interval | None = None
    weighted_difference: Interval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallFigures:
    """A recipe over all sets and budgets. `ratio` is None if the baseline misses nothing.

    `lower_recall`, `lower_complete`: cells that are below the baseline's by more than `RECALL_LOSS`
    and `COMPLETE_LOSS`. `faults`: those of all contexts, by their names.
    """

    recipe: str
    missed: Interval
    reachable_missed: float | None
    ratio: Interval | None
    recall_difference: Interval
    weighted_difference: Interval
    complete: float
    tokens: float
    redundancy: float
    over: int
    failed: int
    worse: int
    lower_recall: int
    lower_complete: int
    faults: Mapping[str, int]
    without: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """An evaluation's figures. `pools`: the cells of all candidates joined, one a set.

    `recalls`: set → recipe → budget → evidence recall of each question, in the order of `ids`.
    `no_evidence`: set → the questions whose candidates hold nothing of their evidence.
    `answers`: where a model was asked.
    """

    version: str
    tokenizer: str
    embedder: str
    baseline: str
    recipes: tuple[str, ...]
    budgets: tuple[int, ...]
    overall: tuple[OverallFigures, ...]
    pools: tuple[Cell, ...]
    cells: tuple[Cell, ...]
    ids: Mapping[str, tuple[str, ...]]
    recalls: Mapping[str, Mapping[str, Mapping[int, tuple[float, ...]]]]
    no_evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    answers: AnswersSummary | None = None

    @property
    def datasets(self) -> tuple[str, ...]:
        """The sets, in the order of their first question."""
        return tuple(self.ids)


SCHEMA = 1

_RENAMED = {
    "faults": "hygiene",
    "pools": "sets",
    "price": "tokens_per_evidence",
    "without": "ratio_without",
}
_LEFT_OUT: Mapping[type, tuple[str, ...]] = {
    AnswerCell: ("dataset", "budget"),
    Cell: ("recall_difference", "weighted_difference"),
    MeasureSummary: ("difference", "pairs"),
    Summary: ("no_evidence", "answers"),
}
"""Fields that are left out where they are empty."""


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """The summary as one object; `recalls` are those of every question, in the order of `ids`."""
    return {"schema": SCHEMA, **to_json(summary)}


def to_json(value: Any) -> Any:
    """One of these values; measures stand by their names beside the other fields."""
    if isinstance(value, float):
        return round(value, 6) + 0.0 if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_json(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return list(map(to_json, value))
    if not is_dataclass(value):
        return value
    found: dict[str, Any] = {}
    for name in (each.name for each in fields(value)):
        one = getattr(value, name)
        if name in ("means", "figures"):
            found |= to_json(one)
        elif one or name not in _LEFT_OUT.get(type(value), ()):
            found[_RENAMED.get(name, name)] = to_json(one)
    compared = {Cell: "recall_difference", MeasureSummary: "difference"}.get(type(value), "")
    if compared in found:
        found["verdict"] = getattr(value, compared).verdict
    return found
