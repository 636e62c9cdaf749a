"""From lines of results to one figure for each system, size and budget.

Over rounds the median is taken; the text of the first round is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, TypeAlias

Key: TypeAlias = tuple[str, int, int]
"""System, size, budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Milliseconds of CPU unless said otherwise. `error`: why there are none."""

    system: str
    n: int
    budget: int
    cpu: float = 0.0
    p90: float = 0.0
    megabytes: float = 0.0
    claimed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    judged: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


def figures(
    rows: Iterable[dict[str, Any]], judge: Callable[[dict[str, Any]], Mapping[str, Any]]
) -> dict[Key, Figure]:
    """One figure for each system, size and budget, in the order of the lines."""
    held: dict[Key, list[dict[str, Any]]] = {}
    for row in rows:
        held.setdefault((row["system"], row["n"], row["budget"]), []).append(row)
    return {key: _figure(key, own, judge) for key, own in held.items()}


def _figure(
    key: Key, rows: list[dict[str, Any]], judge: Callable[[dict[str, Any]], Mapping[str, Any]]
) -> Figure:
    system, n, budget = key
    good = [row for row in rows if "error" not in row]
    if not good:
        return Figure(system=system, n=n, budget=budget, error=rows[0]["error"])

    def middle(name: str) -> float:
        return float(round(median(row[name] for row in good), 4))

    return Figure(
        system=system,
        n=n,
        budget=budget,
        cpu=middle("cpu_ms"),
        p90=middle("cpu_p90_ms"),
        megabytes=middle("peak_mb"),
        claimed=good[0]["claimed"],
        extra=good[0]["extra"],
        judged=judge(good[0]),
    )
