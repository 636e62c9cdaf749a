"""Worth per token: chunks and their shorter renditions, the densest first.

A candidate's first rendition opens its block; a fuller one takes its place when its turn comes and
the budget holds the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice

from foveate.core.renditions import full_rendition
from foveate.core.stages.pack.budget_tracker import BudgetTracker, is_undivided
from foveate.core.stages.pack.choice import Choice, Choices, RenditionOptions, by_score
from foveate.core.token_counter import Cost, new_cost
from foveate.core.types import Candidate, Rendition

LEAST = 0.02  # the worst-scored candidate's worth, as a share of the best-scored one's
CONTRAST = 2  # scores say more about the first few than about the rest; so worth is not linear


def candidate_worths(candidates: Iterable[Candidate]) -> dict[str, float]:
    """Worth of each candidate, by id; a passage's parts add up.

    A score is scaled to [0, 1] over the pool, raised to CONTRAST, and moved to [LEAST, 1].
    """
    found = {candidate.chunk.id: _scores(candidate) for candidate in candidates}
    scores = list(chain.from_iterable(found.values()))
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    reach = high - low

    if reach <= 0:
        return {own: float(len(scores)) for own, scores in found.items()}
    scaled = [LEAST + (1 - LEAST) * ((score - low) / reach) ** CONTRAST for score in scores]
    if len(scaled) == len(found):
        return dict(zip(found, scaled, strict=True))
    each = iter(scaled)
    return {own: sum(islice(each, len(scores))) for own, scores in found.items()}


def pack_value(
    candidates: Sequence[Candidate], tracker: BudgetTracker, renditions_of: RenditionOptions
) -> Choices:
    """Fill the budget by worth per token; of two that are as dense, the better-scored comes first.

    What did not fit when its turn came is tried once more behind all others.
    """
    pool = by_score(candidates)
    worths = candidate_worths(pool)
    unit = int(tracker.tokens is None)
    options: list[tuple[float, int, float, Rendition | None, Cost]] = []
    for place, (candidate, frame) in enumerate(zip(pool, tracker.narrowest(pool), strict=True)):
        ways = (None,) if is_undivided(candidate) else renditions_of(candidate)
        for way in ways:  # None is the whole text, made when it is chosen
            body = tracker.body(candidate, way) if way else tracker.entire(candidate)
            worth = worths[candidate.chunk.id] * (way.value if way else 1.0)
            options.append((-worth / max(body[unit] + frame, 1), place, -worth, way, body))
    options.sort(key=lambda option: option[:3])
    chosen: dict[int, Choice] = {}
    for _, place, _, way, body in (*options, *sorted(options, key=lambda o: (o[1], o[2]))):
        choice = _show(tracker, pool[place], chosen.get(place), way, body)
        if choice is not None:
            chosen[place] = choice
    left = [candidate for place, candidate in enumerate(pool) if place not in chosen]
    return Choices(
        chosen=[chosen[place] for place in sorted(chosen)],
        left_out={candidate.chunk.id: "over_budget" for candidate in left},
    )


def _show(
    tracker: BudgetTracker,
    candidate: Candidate,
    old: Choice | None,
    way: Rendition | None,
    body: Cost,
) -> Choice | None:
    """The candidate shown so, if it is not shown as fully yet and the budget holds it.

    Instead of `old` it keeps its place, and so what stands around it.
    """
    if old is None:
        cost = tracker.affords(candidate, body)
        if cost is None:
            return None
        tracker.take(candidate, cost)
        return Choice(candidate=candidate, rendition=way or full_rendition(candidate), cost=cost)
    if way is None or way.value <= old.rendition.value:
        return None
    before = tracker.body(candidate, old.rendition)
    more = new_cost((body[0] - before[0], body[1] - before[1]))
    if not tracker.fits(more):
        return None
    tracker.spend(more)
    cost = new_cost((old.cost[0] + more[0], old.cost[1] + more[1]))
    return Choice(candidate=candidate, rendition=way, cost=cost)


def _scores(candidate: Candidate) -> list[float]:
    return [part.score for part in candidate.parts] or [candidate.score]
