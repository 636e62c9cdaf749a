"""What the choice of sentences comes to: what is shown, and why each other candidate is not."""

from __future__ import annotations

from collections.abc import Sequence

from foveate.core.stages.pack.choice import Choice, Choices
from foveate.core.stages.pack.selection import NEW, Selection

FRESH = 0.6  # a sentence of which less than that share is new waits for room to spare


def build_choices(selection: Selection, room: int) -> Choices:
    """The chosen, best candidate first; the others with the reason."""
    choices, tracker = Choices(), selection.tracker
    left = selection.left(room)
    fitting = left if selection.groups else 0  # where nothing is chosen, estimates were wrong
    for owner, candidate in enumerate(selection.pool):
        if not selection.many[owner]:
            pieces = range(selection.firsts[owner], selection.firsts[owner + 1])
            choices.left_out[candidate.chunk.id] = _reason(selection, pieces, fitting)
            continue
        rendition = selection.counted[owner].rendition
        cost = tracker.cost(candidate, rendition)
        tracker.take(candidate, cost)
        choices.chosen.append(Choice(candidate=candidate, rendition=rendition, cost=cost))
    choices.waits = {
        own: wait
        for owner, wait in _waits(selection, left).items()
        if choices.left_out[own := selection.pool[owner].chunk.id] == "over_budget"
    }
    worths = [
        worth for worth, taken in zip(selection.worths, selection.taken, strict=True) if taken
    ]
    choices.notes |= {"value": round(sum(worths), 6)}
    if hidden := sum(not selection.taken[piece] for piece in selection.asked):
        choices.notes |= {"with_the_identifier": len(selection.asked), "of_them_left_out": hidden}
    return choices


def _reason(selection: Selection, pieces: Sequence[int], left: int) -> str:
    """Why nothing of a candidate, of which these are the pieces, is shown.

    `left`: of the room. What fits there is left out for another reason than the budget.
    """
    telling = [p for p in pieces if p not in selection.structural]
    if not telling:
        return "no_match"
    new = [p for p in telling if selection.fresh(p) >= NEW]
    if not new:
        return "already_said"
    fits = (
        selection.costs[p] <= left and selection.cost(selection.with_heads(p)) <= left for p in new
    )
    return "unlikely" if any(fits) else "over_budget"


def record_stop(choices: Choices, selection: Selection, left: int, least: float) -> None:
    """Say that room was left on purpose, and which candidates it leaves out.

    `left`: of the room, in the unit that limits. `least`: what is worth less is unlikely.
    """
    worth = selection.worths.__getitem__
    rest = {
        owner: pieces
        for owner in range(len(selection.pool))
        if (pieces := selection.rest_of(owner)) and max(map(worth, pieces)) < least
    }
    left_out = [p for pieces in rest.values() for p in pieces]
    fitting = [p for p in left_out if selection.cost(selection.with_heads(p)) <= left]
    if not fitting:
        return
    best = max(map(worth, fitting))
    choices.notes |= {"stopped": len(fitting), "next_worth": float(f"{best:.3g}")}
    for own in [selection.pool[owner].chunk.id for owner in rest]:
        if choices.left_out.get(own) == "over_budget":
            choices.left_out[own] = "unlikely"
            (choices.waits or {}).pop(own, None)


def _waits(selection: Selection, left: int) -> dict[int, tuple[int, int]]:
    """What comes in before a candidate's first piece, and how much that lacks; of those not shown.

    In the unit that limits. With more room the pieces that wait come in by density; those that say
    little new wait on. `left`: of the room.
    """
    import numpy as np

    closed = selection.many.count(0)
    density = np.array(selection.worths) / np.array(selection.costs or 1)
    found: dict[int, tuple[int, int]] = {}
    spent = 0
    for p in np.argsort(-density, kind="stable").tolist() if closed else ():
        if len(found) == closed:
            break
        if selection.taken[p] or p in selection.structural or selection.fresh(p) < FRESH:
            continue
        owner = selection.owners[p]
        if selection.many[owner] or owner in found:
            spent += selection.costs[p]
            continue
        cost = selection.cost(selection.with_heads(p))
        found[owner] = spent, max(cost - left, 1)
        spent += cost
    return found
