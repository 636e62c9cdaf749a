"""Chunk and rendition chosen together, by worth per token, with a bound on the optimum.

The multiple-choice knapsack problem (Sinha and Zoltners 1979): every candidate is shown in at
most one rendition. The renditions that lie on the upper hull of (cost, worth) are taken as steps,
the most worth per token first; the linear relaxation's value is the bound. `notes` carry `value`,
`bound` and `gap = 1 - value / bound`: no packing of the same candidates can be worth more than
`bound`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import NamedTuple

from foveate.core.renditions import full_rendition
from foveate.core.stages.pack.budget_tracker import BudgetTracker, is_undivided
from foveate.core.stages.pack.choice import (
    Choice,
    Choices,
    RenditionOptions,
    by_score,
    fullest_that_fits,
    worth_figures,
)
from foveate.core.token_counter import Cost, new_cost
from foveate.core.types import Candidate, Rendition

LEAST = 0.02  # the worst-scored candidate's worth, as a share of the best-scored one's
CONTRAST = 2  # scores say more about the first few than about the rest; so worth is not linear


class HullStep(NamedTuple):
    """One step of the hull: what it costs and is worth in all, and compared with the step below.

    `rendition`: None is the whole text, made when it is chosen. `body`: the text's cost alone.
    """

    rendition: Rendition | None
    body: Cost
    cost: int
    worth: float
    density: float


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
    """Fill the budget by worth per token, then with whatever still fits, best score first."""
    pool = by_score(candidates)
    worths = candidate_worths(pool)
    offers = [() if is_undivided(c) else renditions_of(c) for c in pool]
    frames = tracker.narrowest(pool)
    hulls = [
        build_hull(c, worths[c.chunk.id], tracker, offered, frame)
        for c, offered, frame in zip(pool, offers, frames, strict=True)
    ]
    steps = sorted(
        (-step.density, i, level)
        for i, steps in enumerate(hulls)
        for level, step in enumerate(steps)
    )
    room = tracker.tokens if tracker.tokens is not None else tracker.characters or 0
    bound = _relaxed(steps, hulls, room)
    chosen = _take_steps(pool, hulls, steps, tracker)
    choices = _finish(pool, chosen, tracker, hulls, offers)
    value = sum(worths[c.candidate.chunk.id] * c.rendition.value for c in choices.chosen)
    choices.notes |= worth_figures(value, bound)
    return choices


def build_hull(
    candidate: Candidate,
    worth: float,
    tracker: BudgetTracker,
    renditions: Sequence[Rendition],
    frame: int,
) -> list[HullStep]:
    """The renditions on the upper hull, cheapest first, each denser than the next.

    `renditions`: none is all the text alone. `frame`: the least that stands around it.
    """
    unit = int(tracker.tokens is None)
    if not renditions:
        body = tracker.entire(candidate)
        cost = max(body[unit] + frame, 1)
        return [HullStep(None, body, cost, worth, worth / cost)]
    bodies = [tracker.body(candidate, rendition) for rendition in renditions]
    points = [
        (max(body[unit] + frame, 1), worth * rendition.value, body, rendition)
        for body, rendition in zip(bodies, renditions, strict=True)
    ]
    points.sort(key=lambda point: (point[0], -point[1]))
    steps: list[HullStep] = []
    for cost, value, body, rendition in points:
        if steps and value <= steps[-1].worth:
            continue
        while steps and _density(steps[-2:-1], cost, value) >= steps[-1].density:
            steps.pop()
        steps.append(HullStep(rendition, body, cost, value, _density(steps[-1:], cost, value)))
    return steps


def _density(below: Sequence[HullStep], cost: int, value: float) -> float:
    """Worth per token of the step up from the step below."""
    if not below:
        return value / cost
    step = cost - below[0].cost
    return (value - below[0].worth) / step if step > 0 else float("inf")


def _relaxed(
    steps: Sequence[tuple[float, int, int]], hulls: Sequence[Sequence[HullStep]], room: int
) -> float:
    """The linear relaxation: steps in order, the first that does not fit in part."""
    total = 0.0
    for thinness, i, level in steps:
        step = hulls[i][level]
        cost = step.cost - (hulls[i][level - 1].cost if level else 0)
        taken = min(cost, room)
        total -= thinness * taken
        room -= taken
        if room <= 0:
            break
    return total


def _take_steps(
    pool: Sequence[Candidate],
    hulls: Sequence[Sequence[HullStep]],
    steps: Sequence[tuple[float, int, int]],
    tracker: BudgetTracker,
) -> dict[int, Choice]:
    """Take the steps in order; one whose step below was not taken is not open."""
    chosen: dict[int, Choice] = {}
    height = [-1] * len(pool)
    for _, i, level in steps:
        if height[i] != level - 1:
            continue
        step, candidate = hulls[i][level], pool[i]
        if not level and tracker.tokens is not None and step.body[0] > tracker.tokens:
            continue
        if level and step.rendition is not None:
            choice = swap_rendition(tracker, chosen[i], candidate, step.rendition)
        else:
            choice = _first(tracker, candidate, step.rendition, step.body)
        if choice is not None:
            chosen[i] = choice
            height[i] = level
    return chosen


def _first(
    tracker: BudgetTracker, candidate: Candidate, rendition: Rendition | None, body: Cost
) -> Choice | None:
    """Show a candidate that is not shown yet, if the budget holds it."""
    cost = tracker.affords(candidate, body)
    if cost is None:
        return None
    tracker.take(candidate, cost)
    return Choice(candidate=candidate, rendition=rendition or full_rendition(candidate), cost=cost)


def swap_rendition(
    tracker: BudgetTracker, old: Choice | None, candidate: Candidate, rendition: Rendition
) -> Choice | None:
    """Show the candidate this rendition instead of `old`, if the budget holds the difference.

    It keeps its place, and so what stands around it.
    """
    if old is None:
        cost = tracker.afford(candidate, rendition)
        if cost is None:
            return None
        tracker.take(candidate, cost)
        return Choice(candidate=candidate, rendition=rendition, cost=cost)
    now, then = tracker.body(candidate, rendition), tracker.body(candidate, old.rendition)
    more = new_cost((now[0] - then[0], now[1] - then[1]))
    if not tracker.fits(more):
        return None
    tracker.spend(more)
    cost = new_cost((old.cost[0] + more[0], old.cost[1] + more[1]))
    return Choice(candidate=candidate, rendition=rendition, cost=cost)


def _finish(
    pool: Sequence[Candidate],
    chosen: dict[int, Choice],
    tracker: BudgetTracker,
    hulls: Sequence[Sequence[HullStep]],
    offers: Sequence[Sequence[Rendition]],
) -> Choices:
    """Spend what is left: first on what was left out, then on fuller renditions."""
    choices = Choices()
    for i, candidate in enumerate(pool):
        if i in chosen:
            continue
        if offers[i]:
            choice = _what_fits(candidate, tracker, offers[i])
        else:
            choice = _first(tracker, candidate, None, hulls[i][0].body)
        if choice is None:
            choices.left_out[candidate.chunk.id] = "over_budget"
        else:
            chosen[i] = choice
    for i, candidate in enumerate(pool):
        if i in chosen and len(offers[i]) > 1:
            chosen[i] = _fuller(candidate, chosen[i], tracker, offers[i])
    choices.chosen = [chosen[i] for i in sorted(chosen)]
    return choices


def _what_fits(
    candidate: Candidate, tracker: BudgetTracker, offered: Sequence[Rendition]
) -> Choice | None:
    """Show it in the first rendition that the budget holds."""
    choice = fullest_that_fits(candidate, tracker, offered)
    if choice is not None:
        tracker.take(candidate, choice.cost)
    return choice


def _fuller(
    candidate: Candidate, choice: Choice, tracker: BudgetTracker, offered: Sequence[Rendition]
) -> Choice:
    for rendition in offered:
        if rendition.value <= choice.rendition.value:
            continue
        better = swap_rendition(tracker, choice, candidate, rendition)
        if better is not None:
            return better
    return choice


def _scores(candidate: Candidate) -> list[float]:
    return [part.score for part in candidate.parts] or [candidate.score]
