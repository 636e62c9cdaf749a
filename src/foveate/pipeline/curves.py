"""Reading curves: how well a model reads each part of its context.

A curve is accuracy at evenly spaced places from first to last, for `Order(by="attention",
curve=…)`. A file has `{"kind": "foveate.curve/1", "curve": [75.8, 56.7, …]}`.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput, UnknownName
from foveate.core.typed import read_value
from foveate.pipeline.text_files import read_text_file

CURVE_KIND = "foveate.curve/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedCurve:
    """A published curve: accuracy in per cent at relative positions from 0 to 1, rising."""

    name: str
    source: str
    model: str
    positions: tuple[float, ...]
    accuracy: tuple[float, ...]


@lru_cache(maxsize=1)
def load_published_curves() -> Mapping[str, PublishedCurve]:
    """Those that ship with foveate, by name; the data and its source are in curves.toml."""
    data = tomllib.loads(
        files("foveate.pipeline").joinpath("curves.toml").read_text(encoding="utf-8")
    )
    return {name: _curve_from_record(name, record) for name, record in data.items()}


def load_curve(name: str) -> tuple[float, ...]:
    """The curve of that name, or in that file (`*.json`); raises `UnknownName` or `BadInput`.

    >>> load_curve("gpt35_20")
    (75.8, 56.69, 53.96, 55.79, 63.2)
    """
    if name.endswith(".json"):
        return _load_curve_file(Path(name))
    known = load_published_curves()
    if name not in known:
        raise UnknownName("curve", name, known)
    return resample_evenly(known[name].positions, known[name].accuracy)


def resample_evenly(positions: Sequence[float], accuracy: Sequence[float]) -> tuple[float, ...]:
    """The same curve at as many evenly spaced places, along straight lines."""
    steps = len(positions) - 1
    return tuple(round(interpolate(n / steps, positions, accuracy), 4) for n in range(steps + 1))


def interpolate(at: float, positions: Sequence[float], accuracy: Sequence[float]) -> float:
    """The accuracy at a relative position, on the straight line between its neighbours."""
    i = max(1, min(bisect_left(positions, at), len(positions) - 1))
    share = (at - positions[i - 1]) / (positions[i] - positions[i - 1])
    return accuracy[i - 1] + (accuracy[i] - accuracy[i - 1]) * share


def _curve_from_record(name: str, record: Mapping[str, Any]) -> PublishedCurve:
    last = record["passages"] - 1
    return PublishedCurve(
        name=name,
        source=record["source"],
        model=record["model"],
        positions=tuple((place - 1) / last for place in record["places"]),
        accuracy=tuple(float(value) for value in record["accuracy"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _CurveFile:
    kind: Literal["foveate.curve/1"]
    curve: tuple[float, ...]


def _load_curve_file(path: Path) -> tuple[float, ...]:
    text = read_text_file(path)
    try:
        return tuple(map(float, read_value(_CurveFile, parse_json(text)).curve))
    except (BadInput, OverflowError) as error:
        what = f"is no reading curve ({error}); give its kind, {CURVE_KIND!r}, and its places"
        raise BadInput(f"{path}: {what}") from None
