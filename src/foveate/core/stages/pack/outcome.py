"""What the choice of sentences comes to: what is shown, and why each other candidate is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import neg, truediv

from foveate.core.stages.pack.budget_tracker import BudgetTracker
from foveate.core.stages.pack.choice import Choice, Choices, worth_figures
from foveate.core.stages.pack.selection import Selection

FRESH = 0.6  # a sentence of which less than that share is new waits for room to spare
NEW = 1e-6  # and with less than that it is left out: all of it was said


def build_choices(
    basket: Selection,
    counted: Mapping[int, Choice],
    scale: BudgetTracker,
    room: int,
    used: int,
) -> Choices:
    """The chosen, best candidate first; the others with the reason. `used`: of the room."""
    choices = Choices()
    for owner, candidate in enumerate(basket.pool):
        if not basket.many[owner]:
            pieces = range(basket.firsts[owner], basket.firsts[owner + 1])
            choices.left_out[candidate.chunk.id] = _reason(basket, pieces)
            continue
        rendition = counted[owner].rendition
        cost = scale.cost(candidate, rendition)
        scale.take(candidate, cost)
        choices.chosen.append(Choice(candidate=candidate, rendition=rendition, cost=cost))
    order = places_in_order([*map(neg, map(truediv, basket.worths, basket.costs))])
    waits = _waits(basket, order, room - used)
    choices.waits = {basket.pool[owner].chunk.id: wait for owner, wait in waits.items()}
    value = sum([basket.worths[p] for p in sorted(p for group in basket.groups for p in group)])
    choices.notes |= worth_figures(value, _relaxed(basket, order, room))
    if hidden := sum(not basket.taken[piece] for piece in basket.asked):
        choices.notes |= {"with_the_identifier": len(basket.asked), "of_them_left_out": hidden}
    return choices


def _reason(basket: Selection, pieces: Sequence[int]) -> str:
    """Why nothing of a candidate, of which these are the pieces, is shown."""
    if basket.structural.issuperset(pieces):
        return "no_match"
    return "already_said" if all(basket.fresh(p) < NEW for p in pieces) else "over_budget"


def record_unmatched(choices: Choices, basket: Selection) -> None:
    """Say which candidates are left out because nothing in them earned a block."""
    waits = choices.waits or {}
    for owner, candidate in enumerate(basket.pool):
        pieces = slice(basket.firsts[owner], basket.firsts[owner + 1])
        if candidate.chunk.id in choices.left_out and not any(basket.earned[pieces]):
            choices.left_out[candidate.chunk.id] = "no_match"
            waits.pop(candidate.chunk.id, None)


def record_stop(choices: Choices, basket: Selection, noise: Sequence[tuple[float, int]]) -> None:
    """Say that room was left on purpose, and which candidates it leaves out.

    `noise`: the pieces left out, each behind what it was sorted by.
    """
    best = max(basket.worths[piece] for _, piece in noise)
    choices.notes |= {"stopped": len(noise), "next_worth": float(f"{best:.3g}")}
    waits = choices.waits or {}
    unlikely = {basket.owners[piece] for _, piece in noise}
    for owner in sorted(unlikely):
        own = basket.pool[owner].chunk.id
        if choices.left_out.get(own) == "over_budget":
            choices.left_out[own] = "unlikely"
            waits.pop(own, None)


def _waits(basket: Selection, order: list[int], left: int) -> dict[int, tuple[int, int]]:
    """What comes in before a candidate's first piece, and how much that lacks; of those not shown.

    In the unit that limits. With more room the pieces that wait come in by density, `order`; those
    that say little new wait on.
    """
    closed = basket.many.count(0)
    found: dict[int, tuple[int, int]] = {}
    spent = 0
    for p in order:
        if len(found) == closed:
            break
        if basket.taken[p] or p in basket.structural:
            continue
        if basket.runs[p] and basket.fresh(p) < FRESH:
            continue
        owner = basket.owners[p]
        if basket.many[owner] or owner in found:
            spent += basket.costs[p]
            continue
        cost = basket.cost(basket.with_heads(p))
        found[owner] = spent, max(cost - left, 1)
        spent += cost
    return found


def _relaxed(basket: Selection, order: list[int], room: int) -> float:
    """The best fractional filling of the room with pieces, their blocks for nothing."""
    costs, worths = basket.costs, basket.worths
    total = 0.0
    for p in order:
        if room <= 0:
            break
        part = min(costs[p], room)
        total += worths[p] * part / costs[p]
        room -= part
    return total


def places_in_order(values: list[float]) -> list[int]:
    """Their places, the least value first."""
    import numpy as np

    order: list[int] = np.argsort(np.array(values), kind="stable").tolist()
    return order
