"""Worth per token: chunks and their shorter renditions, the densest first.

A candidate's first rendition opens its block; a fuller one takes its place when its turn comes and
the budget holds the difference.
"""

from __future__ import annotations

from collections.abc import Sequence

from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.choice import Choice, Choices, RenditionOptions
from foveate.core.token_counter import new_cost
from foveate.core.types import Candidate, Rendition, rank

LEAST = 0.02  # the worst-scored candidate's worth, as a share of the best-scored one's
CONTRAST = 2  # scores say more about the first few than about the rest; so worth is not linear


def candidate_worths(candidates: Sequence[Candidate]) -> list[float]:
    """Worth of each candidate; a passage's parts add up.

    A score is scaled to [0, 1] over the pool, raised to CONTRAST, and moved to [LEAST, 1].
    """
    scores = [[part.score for part in c.parts] or [c.score] for c in candidates]
    low = min((min(own) for own in scores), default=0.0)
    reach = max((max(own) for own in scores), default=0.0) - low
    if reach <= 0:
        return [float(len(own)) for own in scores]
    return [
        sum([LEAST + (1 - LEAST) * ((score - low) / reach) ** CONTRAST for score in own])
        for own in scores
    ]


def pack_value(
    candidates: Sequence[Candidate], tracker: BudgetTracker, renditions_of: RenditionOptions
) -> Choices:
    """Fill the budget by worth per token; of two that are as dense, the better-scored comes first.

    What did not fit when its turn came is tried once more behind all others.
    """
    pool = sorted(candidates, key=rank)
    options: list[tuple[float, int, float, Rendition]] = []
    for place, (candidate, worth) in enumerate(zip(pool, candidate_worths(pool), strict=True)):
        for way in renditions_of(candidate):
            value = worth * way.value
            options.append((-value / tracker.least(candidate, way), place, -value, way))
    options.sort(key=lambda option: option[:3])
    chosen: dict[int, Choice] = {}
    for _, place, _, way in (*options, *sorted(options, key=lambda option: option[1:3])):
        choice = _show(tracker, pool[place], chosen.get(place), way)
        if choice is not None:
            chosen[place] = choice
    return Choices(
        chosen=[chosen[place] for place in sorted(chosen)],
        left_out={c.chunk.id: "over_budget" for n, c in enumerate(pool) if n not in chosen},
    )


def _show(
    tracker: BudgetTracker, candidate: Candidate, old: Choice | None, way: Rendition
) -> Choice | None:
    """The candidate shown so, if it is not shown as fully yet and the budget holds it.

    Instead of `old` it keeps its place, and so what stands around it.
    """
    if old is None:
        cost = tracker.afford(candidate, way)
        if cost is not None:
            tracker.take(candidate, cost)
        return cost and Choice(candidate=candidate, rendition=way, cost=cost)
    if way.value <= old.rendition.value:
        return None
    before, after = tracker.body(candidate, old.rendition), tracker.body(candidate, way)
    more = new_cost((after[0] - before[0], after[1] - before[1]))
    if not tracker.fits(more):
        return None
    tracker.spend(more)
    cost = new_cost((old.cost[0] + more[0], old.cost[1] + more[1]))
    return Choice(candidate=candidate, rendition=way, cost=cost)
