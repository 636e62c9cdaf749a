"""What foveate's speed is held to, checked against the figures of a run.

Ratios are taken within the run, so they travel between machines; absolute times do not. What is
held to them is `foveate_cold`: texts that were never seen, as those of another retriever are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.peers.figures import Figure, Key

BUDGET = 8_000
OWN = "foveate_cold"
FASTER = {50: 1.0, 1_000: 5.0, 10_000: 30.0}
"""By size, how many times as fast as `langchain`."""
FLOOR = {50: 8.0, 1_000: 3.0, 10_000: 0.4}
"""By size, the time over that of `floor_full`."""
WHOLE_FLOOR = {50: 3.0}
"""The same of whole chunks (`foveate_whole_unread`), as the floor chooses them."""
MOST = {50: 11.0, 1_000: 40.0, 10_000: 130.0}
"""By size, milliseconds on the machine of the page."""
GROWTH = 6.0
MEGABYTES = 80.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line: what is asked, what was measured, whether it holds."""

    what: str
    limit: str
    figure: str
    met: bool


def checks(found: Mapping[Key, Figure], budget: int = BUDGET) -> list[Check]:
    """All that the measured sizes allow to be said."""
    good = {key: f for key, f in found.items() if not f.error}
    return [
        *_faster(good, budget),
        *_floor(good, OWN, FLOOR, budget),
        *_floor(good, "foveate_whole_unread", WHOLE_FLOOR, budget),
        *_alone(good, budget),
        *_within_budget(good),
    ]


def _pairs(
    good: Mapping[Key, Figure], one: str, other: str, budget: int
) -> Iterator[tuple[int, float]]:
    """The sizes at which both systems were measured, and the time of `one` over the other's."""
    for n in FASTER:
        first, second = good.get((one, n, budget)), good.get((other, n, budget))
        if first and second:
            yield n, first.cpu / second.cpu


def _faster(good: Mapping[Key, Figure], budget: int) -> Iterator[Check]:
    for n, ratio in _pairs(good, "langchain", OWN, budget):
        yield Check(
            what=f"faster than `langchain` at N = {n:,}",
            limit=f"{FASTER[n]:.0f}× or more",
            figure=f"{ratio:.1f}×",
            met=ratio >= FASTER[n],
        )


def _floor(
    good: Mapping[Key, Figure], name: str, most: Mapping[int, float], budget: int
) -> Iterator[Check]:
    for n, ratio in _pairs(good, name, "floor_full", budget):
        if n in most:
            yield Check(
                what=f"time of `{name}` over `floor_full` at N = {n:,}",
                limit=f"{most[n]:g}× or less",
                figure=f"{ratio:.2f}×",
                met=ratio <= most[n],
            )


def _alone(good: Mapping[Key, Figure], budget: int) -> Iterator[Check]:
    """Growth, memory and milliseconds."""
    own = {n: good[OWN, n, budget] for n in MOST if (OWN, n, budget) in good}
    if own.keys() >= {1_000, 10_000}:
        ratio, memory = own[10_000].cpu / own[1_000].cpu, own[10_000].megabytes
        yield Check(
            what="growth from 1,000 to 10,000",
            limit=f"{GROWTH:.0f}× or less",
            figure=f"{ratio:.1f}×",
            met=ratio <= GROWTH,
        )
        yield Check(
            what="memory that is added at N = 10,000",
            limit=f"under {MEGABYTES:.0f} MB",
            figure=f"{memory:.1f} MB",
            met=memory < MEGABYTES,
        )
    for n, figure in own.items():
        yield Check(
            what=f"CPU time at N = {n:,}, on this machine",
            limit=f"{MOST[n]:g} ms or less",
            figure=f"{figure.cpu:.1f} ms",
            met=figure.cpu <= MOST[n],
        )


def _within_budget(good: Mapping[Key, Figure]) -> Iterator[Check]:
    own = [f for (system, _, _), f in good.items() if system.startswith("foveate") and f.judged]
    if own:
        over = sum(f.judged["over"] > 0 for f in own)
        yield Check(
            what="contexts of foveate over their budget",
            limit="none",
            figure=f"{over} of {len(own)}",
            met=not over,
        )
