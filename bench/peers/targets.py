"""What foveate's speed is held to, checked against the figures of a run.

Ratios are taken within the run, so they travel between machines; absolute times do not. Like is
compared with like: the others choose whole chunks, so the ratios are those of `foveate_whole`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bench.peers.figures import Figure, Key

BUDGET = 8_000
FASTER = ((50, 5.0), (1_000, 15.0), (10_000, 40.0))
NEAR_FLOOR = 4.0
GROWTH = 13.0
MEGABYTES = 60.0
ABSOLUTE = (
    ("foveate_whole", ((50, 0.5), (1_000, 10.0), (10_000, 120.0))),
    ("foveate", ((50, 8.0), (1_000, 60.0), (10_000, 500.0))),
)
UNREAD = 0.1  # milliseconds a chunk that reading new texts may add; their counts are at hand


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
        *_floor(good, budget),
        *_growth(good, budget),
        *_memory(good, budget),
        *_absolute(good, budget),
        *_unread(good, budget),
        *_within_budget(good),
    ]


def _pairs(
    good: Mapping[Key, Figure], one: str, other: str, budget: int
) -> Iterator[tuple[int, Figure, Figure]]:
    """The sizes at which both systems were measured, and their figures."""
    for n, _ in FASTER:
        first, second = good.get((one, n, budget)), good.get((other, n, budget))
        if first and second:
            yield n, first, second


def _faster(good: Mapping[Key, Figure], budget: int) -> Iterator[Check]:
    least = dict(FASTER)
    for n, other, own in _pairs(good, "langchain", "foveate_whole", budget):
        ratio = other.cpu / own.cpu
        yield Check(
            what=f"faster than `langchain` at N = {n:,}",
            limit=f"{least[n]:.0f}× or more",
            figure=f"{ratio:.1f}×",
            met=ratio >= least[n],
        )


def _floor(good: Mapping[Key, Figure], budget: int) -> Iterator[Check]:
    for n, floor, own in _pairs(good, "floor_full", "foveate_whole", budget):
        ratio = own.cpu / floor.cpu
        yield Check(
            what=f"time of `foveate_whole` over `floor_full` at N = {n:,}",
            limit=f"{NEAR_FLOOR:.0f}× or less",
            figure=f"{ratio:.2f}×",
            met=ratio <= NEAR_FLOOR,
        )


def _growth(good: Mapping[Key, Figure], budget: int) -> Iterator[Check]:
    for name, _ in ABSOLUTE:
        small, large = good.get((name, 1_000, budget)), good.get((name, 10_000, budget))
        if small and large:
            ratio = large.cpu / small.cpu
            yield Check(
                what=f"growth of `{name}` from 1,000 to 10,000",
                limit=f"{GROWTH:.0f}× or less",
                figure=f"{ratio:.1f}×",
                met=ratio <= GROWTH,
            )


def _memory(good: Mapping[Key, Figure], budget: int) -> Iterator[Check]:
    for name, _ in ABSOLUTE:
        large = good.get((name, 10_000, budget))
        if large:
            yield Check(
                what=f"memory that `{name}` adds at N = 10,000",
                limit=f"under {MEGABYTES:.0f} MB",
                figure=f"{large.megabytes:.1f} MB",
                met=large.megabytes < MEGABYTES,
            )


def _absolute(good: Mapping[Key, Figure], budget: int) -> Iterator[Check]:
    for name, limits in ABSOLUTE:
        for n, most in limits:
            own = good.get((name, n, budget))
            if own:
                yield Check(
                    what=f"CPU time of `{name}` at N = {n:,}, on this machine",
                    limit=f"{most:g} ms or less",
                    figure=f"{own.cpu:.2f} ms",
                    met=own.cpu <= most,
                )


def _unread(good: Mapping[Key, Figure], budget: int) -> Iterator[Check]:
    for n, unread, own in _pairs(good, "foveate_whole_unread", "foveate_whole", budget):
        added = (unread.cpu - own.cpu) / n
        yield Check(
            what=f"reading new texts at N = {n:,}, a chunk, on this machine",
            limit=f"{UNREAD:g} ms or less",
            figure=f"{added:.3f} ms",
            met=added <= UNREAD,
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
