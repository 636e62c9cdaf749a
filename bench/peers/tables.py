"""The tables of the report, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bench.peers.adapters.registry import SYSTEMS
from bench.peers.figures import Figure, Key

Found = Mapping[Key, Figure]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are figures."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def ms(value: float) -> str:
    """Milliseconds, with two figures or so."""
    if value >= 10_000:
        return f"{value / 1000:,.1f} s"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def times(value: float) -> str:
    """A ratio."""
    return f"{value:,.0f}×" if value >= 10 else f"{value:.1f}×" if value >= 1 else f"{value:.2f}×"


def sizes(found: Found, budget: int) -> list[int]:
    """The sizes measured under this budget."""
    return sorted({n for _, n, own in found if own == budget})


def systems(found: Found) -> list[str]:
    """The systems measured, in the order of the registry."""
    measured = {system for system, _, _ in found}
    return [name for name in SYSTEMS if name in measured]


def by_size(found: Found, budget: int, show: Callable[[Figure], str]) -> str:
    """One line a system, one column a size."""
    columns = sizes(found, budget)
    rows = []
    for name in systems(found):
        cells = []
        for n in columns:
            figure = found.get((name, n, budget))
            cells.append("" if figure is None else figure.error or show(figure))
        if any(cells):
            rows.append((f"`{name}`", *cells))
    return table(("system", *(f"N = {n:,}" for n in columns)), rows)


def cpu(found: Found, budget: int) -> str:
    """Median CPU time, and the 90th percentile."""
    return by_size(found, budget, lambda f: f"{ms(f.cpu)} ({ms(f.p90)})")


def ratios(found: Found, budget: int, to: str) -> str:
    """Every system's CPU time as a multiple of this one's."""

    def show(figure: Figure) -> str:
        base = found.get((to, figure.n, figure.budget))
        return "" if base is None or base.error or not base.cpu else times(figure.cpu / base.cpu)

    return by_size(found, budget, show)


def memory(found: Found, budget: int) -> str:
    """Megabytes that a run adds at most."""
    return by_size(found, budget, lambda f: f"{f.megabytes:,.1f}")


QUALITY = (
    "system", "N", "tokens", "over", "its own count", "whole + trimmed", "of the ideal", "evidence",
    "exact", "near", "worse", "repeated", "inversions", "cuts", "beside",
)  # fmt: skip


def quality(found: Found, budget: int) -> str:
    """What came out, one line a system and size."""
    rows = []
    for name in systems(found):
        for n in sizes(found, budget):
            figure = found.get((name, n, budget))
            if figure is not None and figure.judged:
                rows.append(_quality(figure))
    return table(QUALITY, rows)


def _quality(figure: Figure) -> tuple[str, ...]:
    j = figure.judged
    shown = {k: v for k, v in figure.extra.items() if k == "model calls"}
    return (
        f"`{figure.system}`",
        f"{figure.n:,}",
        f"{j['tokens']:,}",
        f"**{j['over']}**" if j["over"] else "0",
        "none" if figure.claimed is None else f"{figure.claimed:,}",
        f"{j['whole']} + {j['trimmed']}",
        f"{j['ideal']:.2f}",
        f"{j['evidence']:.2f}",
        *(str(j[name]) for name in ("exact", "near", "worse", "repeated")),
        f"{j['inversions']} of {j['steps']}",
        str(j["cuts"]),
        ", ".join(f"{v} {k}" for k, v in shown.items()),
    )
