"""A summary as plain data for JSON, rounded to six digits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveate.evals.bootstrap import Interval
from foveate.evals.figures import (
    AnswerCell,
    AnswersSummary,
    Cell,
    MeasureSummary,
    OverallFigures,
    Summary,
)

SCHEMA = 1


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """The summary as one object; `recalls` are those of every question, in the order of `ids`."""
    return {
        "schema": SCHEMA,
        "version": summary.version,
        "tokenizer": summary.tokenizer,
        "embedder": summary.embedder,
        "baseline": summary.baseline,
        "recipes": list(summary.recipes),
        "budgets": list(summary.budgets),
        "overall": [_overall_to_json(one) for one in summary.overall],
        "sets": [_cell_to_json(pool) for pool in summary.pools],
        "cells": [_cell_to_json(cell) for cell in summary.cells],
        "ids": {name: list(ids) for name, ids in summary.ids.items()},
        "recalls": {
            name: {
                recipe: {str(b): [_round(v) for v in values] for b, values in by_budget.items()}
                for recipe, by_budget in by_recipe.items()
            }
            for name, by_recipe in summary.recalls.items()
        },
        **({"answers": answers_to_json(summary.answers)} if summary.answers is not None else {}),
    }


def _cell_to_json(cell: Cell) -> dict[str, Any]:
    record: dict[str, Any] = {
        "dataset": cell.dataset,
        "budget": cell.budget,
        "recipe": cell.recipe,
        "questions": cell.questions,
        "failed": cell.failed,
        **{name: _round(value) for name, value in cell.means.items()},
        "tokens_per_evidence": _round(cell.price),
        "reachable_missed": _round(cell.reachable_missed),
        "hygiene": dict(cell.faults),
    }
    if cell.recall_difference is not None:
        record["recall_difference"] = _interval_to_json(cell.recall_difference)
        record["weighted_difference"] = _interval_to_json(cell.weighted_difference)
        record["verdict"] = cell.recall_difference.verdict
    return record


def _overall_to_json(one: OverallFigures) -> dict[str, Any]:
    return {
        "recipe": one.recipe,
        "missed": _interval_to_json(one.missed),
        "reachable_missed": _round(one.reachable_missed),
        "ratio": _interval_to_json(one.ratio),
        "recall_difference": _interval_to_json(one.recall_difference),
        "weighted_difference": _interval_to_json(one.weighted_difference),
        "complete": _round(one.complete),
        "tokens": _round(one.tokens),
        "redundancy": _round(one.redundancy),
        "over": one.over,
        "failed": one.failed,
        "worse": one.worse,
        "lower_recall": one.lower_recall,
        "lower_complete": one.lower_complete,
        "hygiene": dict(one.faults),
        "ratio_without": {name: _round(value) for name, value in one.without.items()},
    }


def _interval_to_json(found: Interval | None) -> Mapping[str, float | None] | None:
    if found is None:
        return None
    return {"value": _round(found.value), "low": _round(found.low), "high": _round(found.high)}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 6) + 0.0


def answers_to_json(answers: AnswersSummary) -> dict[str, Any]:
    """A model's answers as one object, measures by their names."""
    return {
        "model": answers.model,
        "prompt": answers.prompt,
        "tokens": answers.tokens,
        "overall": [_answer_cell_to_json(cell) for cell in answers.overall],
        "cells": [_answer_cell_to_json(cell) for cell in answers.cells],
    }


def _answer_cell_to_json(cell: AnswerCell) -> dict[str, Any]:
    place = {"dataset": cell.dataset, "budget": cell.budget} if cell.dataset else {}
    return {
        **place,
        "recipe": cell.recipe,
        "questions": cell.questions,
        "failed": cell.failed,
        **{name: _measure_to_json(figure) for name, figure in cell.figures.items()},
    }


def _measure_to_json(figure: MeasureSummary) -> dict[str, Any]:
    found: dict[str, Any] = {
        "mean": _round(figure.mean),
        "known": figure.known,
    }
    if figure.difference is not None:
        found |= {
            "difference": _interval_to_json(figure.difference),
            "pairs": figure.pairs,
            "verdict": figure.difference.verdict,
        }
    return found
