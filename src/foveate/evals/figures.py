"""The figures of an evaluation: cells, the summary, and how JSON has them.

*Missed* is 1 - evidence recall, averaged over sets and budgets with equal weight.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass
from math import isfinite
from statistics import fmean
from typing import Any

from foveate.evals.bootstrap import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measure. `mean`: over the `known` questions with a value, None without any.

    `difference`: from the baseline, over the `pairs` questions with both values.
    """

    mean: float | None
    known: int
    difference: Interval | None = None
    pairs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A recipe on a set at a budget; over all of them where `dataset` is empty and `budget` 0.

    `failed`: questions to which nothing fitted, or of which a call failed. `missed`, and its
    `ratio` to the baseline's, are known over all sets of evidence alone; the ratio is None if the
    baseline misses nothing.
    """

    dataset: str
    budget: int
    recipe: str
    questions: int
    failed: int
    figures: Mapping[str, Figure]
    missed: Interval | None = None
    ratio: Interval | None = None

    def mean(self, name: str) -> float:
        """The mean of a measure, 0 without one."""
        return self.figures[name].mean or 0.0

    @property
    def price(self) -> float | None:
        """Tokens of all contexts over covered pieces of evidence; None if none is covered."""
        covered = self.mean("covered")
        return self.mean("tokens") / covered if covered else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersSummary:
    """A model's answers. `overall`: one a recipe, over sets and budgets of equal weight."""

    model: str
    tokens: int
    overall: tuple[Cell, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """An evaluation's figures.

    `pools`: the cells of all candidates joined, one a set. `answers`: where a model was asked.
    """

    version: str
    tokenizer: str
    embedder: str
    baseline: str
    recipes: tuple[str, ...]
    budgets: tuple[int, ...]
    overall: tuple[Cell, ...]
    pools: tuple[Cell, ...]
    cells: tuple[Cell, ...]
    answers: AnswersSummary | None = None

    @property
    def questions(self) -> Mapping[str, int]:
        """How many questions each set has, in the order of the sets."""
        return {cell.dataset: cell.questions for cell in self.cells}

    def recall(self, recipe: str, budget: int, datasets: Collection[str]) -> float:
        """The mean evidence recall over these sets, each of equal weight."""
        return fmean(
            cell.mean("recall")
            for cell in self.cells
            if (cell.recipe, cell.budget) == (recipe, budget) and cell.dataset in datasets
        )

    def count(self, recipe: str, measure: str) -> int:
        """The contexts of a recipe of which a measure that is 0 or 1 is 1, over all budgets."""
        mine = (cell for cell in self.cells if cell.recipe == recipe)
        return sum(round(cell.mean(measure) * cell.questions) for cell in mine)


SCHEMA = 3

_LEFT_OUT: Mapping[type, tuple[str, ...]] = {
    Cell: ("dataset", "budget", "missed", "ratio"),
    Figure: ("difference", "pairs"),
    Summary: ("answers",),
}
"""Fields that are left out where they are empty."""


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """The summary as one object."""
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
        if name == "figures":
            found |= to_json(one)
        elif one or name not in _LEFT_OUT.get(type(value), ()):
            found[name] = to_json(one)
    if isinstance(value, Figure) and value.difference is not None:
        found["verdict"] = value.difference.verdict
    return found
