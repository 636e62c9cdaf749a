"""Time and memory over the number of candidates; the same figures give the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

OURS = {"foveate": "#0b6e4f", "foveate_whole": "#2fa36b", "floor_full": "#222222"}
OURS |= {"floor_lazy": "#888888"}
OTHERS = ("#c1440e", "#e08e45", "#3b6fb6", "#7fa7d9", "#8d5fa8", "#b48ccc", "#a67c00", "#5d8a8a")
LEFT_OUT = ("foveate_cold", "foveate_whole_unread")
BUDGET = 8_000
DRAWN = (
    ("speed-time.svg", "cpu", "CPU time of one context, ms", 0.01),
    ("speed-memory.svg", "megabytes", "memory that one context adds at most, MB", 0.1),
)


def draw(figures: list[dict[str, Any]], folder: Path) -> None:
    """Both plots."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "foveate", "font.size": 9}):
        for name, measure, label, least in DRAWN:
            _plot(figures, measure, label, least, folder / name)


def _plot(figures: list[dict[str, Any]], measure: str, label: str, least: float, to: Path) -> None:
    """One line a system, both axes logarithmic."""
    from matplotlib.figure import Figure

    lines: dict[str, list[tuple[int, float]]] = {}
    for figure in figures:
        if figure["budget"] == BUDGET and not figure["error"]:
            point = (figure["n"], max(least, figure[measure]))
            lines.setdefault(figure["system"], []).append(point)
    shown = Figure(figsize=(7.2, 4.6))
    axes = shown.subplots()
    colours = iter(OTHERS)
    for system, points in lines.items():
        if system not in LEFT_OUT:
            own = OURS.get(system)
            axes.plot(
                *zip(*sorted(points), strict=True),
                label=system,
                color=own or next(colours, "#aaaaaa"),
                linewidth=2.2 if system.startswith("foveate") else 1.2,
                linestyle="--" if system.startswith("floor") else "-",
                marker="o",
                markersize=3,
            )
    axes.set(xscale="log", yscale="log", xlabel="candidates", ylabel=label)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    shown.savefig(to, bbox_inches="tight", metadata={"Date": None})
