"""The figures of a model's answers, as values. `MEASURES`: their names, the primary one first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from foveate.evals.bootstrap import Interval

MEASURES = ("logprob", "f1", "exact", "inside", "supported")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSummary:
    """One measure. `mean` over the `known` questions that have a value, None where none has.

    `difference`: against the baseline, over the `pairs` questions that have one on both sides.
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
    """What a model answered. `overall`: one a recipe, every set and budget counting the same."""

    model: str
    prompt: str
    tokens: int
    cells: tuple[AnswerCell, ...]
    overall: tuple[AnswerCell, ...]
