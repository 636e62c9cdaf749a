"""A summary as plain data for JSON: its fields in their order, numbers rounded to six digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

from foveate.evals.figures import AnswerCell, Cell, MeasureSummary, Summary

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
    Summary: ("answers",),
}
"""Fields that are left out where they are empty."""


def summary_to_json(summary: Summary) -> dict[str, Any]:
    """The summary as one object; `recalls` are those of every question, in the order of `ids`."""
    return {"schema": SCHEMA, **to_json(summary)}


def to_json(value: Any) -> Any:
    """A value of `figures.py`; measures stand by their names beside the other fields."""
    if isinstance(value, float):
        return round(value, 6) + 0.0 if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_json(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return list(map(to_json, value))
    if not is_dataclass(value):
        return value
    found: dict[str, Any] = {}
    for name in (field.name for field in fields(value)):
        one = getattr(value, name)
        if name in ("means", "figures"):
            found |= to_json(one)
        elif one or name not in _LEFT_OUT.get(type(value), ()):
            found[_RENAMED.get(name, name)] = to_json(one)
    compared = {Cell: "recall_difference", MeasureSummary: "difference"}.get(type(value), "")
    if compared in found:
        found["verdict"] = getattr(value, compared).verdict
    return found
