"""From lines of results to one figure for each system, size and budget.

Of each system only the lines of its newest code count. Over rounds the median is taken; the text
of the first round is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
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
    rounds: int = 0
    cpu: float = 0.0
    least: float = 0.0
    p90: float = 0.0
    wall: float = 0.0
    first: float = 0.0
    convert: float = 0.0
    megabytes: float = 0.0
    steps: Mapping[str, float] = field(default_factory=dict)
    claimed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    judged: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""


def newest(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines of the code that each system was measured with last."""
    last = {row["system"]: row["code"] for row in rows}
    return [row for row in rows if row["code"] == last[row["system"]]]


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
        rounds=len(good),
        cpu=middle("cpu_ms"),
        least=round(min(row["cpu_least_ms"] for row in good), 4),
        p90=middle("cpu_p90_ms"),
        wall=middle("wall_ms"),
        first=middle("first_ms"),
        convert=middle("convert_ms"),
        megabytes=middle("peak_mb"),
        steps={name: round(ms, 4) for name, ms in good[0]["steps_ms"].items()},
        claimed=good[0]["claimed"],
        extra=good[0]["extra"],
        judged=judge(good[0]),
    )


def plain(found: Mapping[Key, Figure]) -> list[dict[str, Any]]:
    """For JSON."""
    return [asdict(figure) for figure in found.values()]
