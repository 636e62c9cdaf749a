"""A model's answers → plain data for JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from foveate.evals.answers.figures import AnswerCell, AnswersSummary, MeasureSummary
from foveate.evals.bootstrap import Interval

IntervalEncoder = Callable[[Interval | None], Mapping[str, float | None] | None]
"""How an interval is written."""


def answers_to_json(answers: AnswersSummary, spelled: IntervalEncoder) -> dict[str, Any]:
    """As one object; measures by their names."""
    return {
        "model": answers.model,
        "prompt": answers.prompt,
        "tokens": answers.tokens,
        "overall": [_cell_to_json(cell, spelled) for cell in answers.overall],
        "cells": [_cell_to_json(cell, spelled) for cell in answers.cells],
    }


def _cell_to_json(cell: AnswerCell, spelled: IntervalEncoder) -> dict[str, Any]:
    place = {"dataset": cell.dataset, "budget": cell.budget} if cell.dataset else {}
    return {
        **place,
        "recipe": cell.recipe,
        "questions": cell.questions,
        "failed": cell.failed,
        **{name: _measure_to_json(figure, spelled) for name, figure in cell.figures.items()},
    }


def _measure_to_json(figure: MeasureSummary, spelled: IntervalEncoder) -> dict[str, Any]:
    found: dict[str, Any] = {
        "mean": None if figure.mean is None else round(figure.mean, 6) + 0.0,
        "known": figure.known,
    }
    if figure.difference is not None:
        found |= {
            "difference": spelled(figure.difference),
            "pairs": figure.pairs,
            "verdict": figure.difference.verdict,
        }
    return found
