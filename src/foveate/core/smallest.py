"""The smallest budget that would do, found by trying: what `BudgetTooSmall` says is then true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from foveate.core.errors import BudgetTooSmall
from foveate.core.types import Budget

LARGEST = 2**27  # tokens or characters; no budget over that is tried

Does = Callable[[Budget], bool]
Unit = Literal["documents", "characters"]


def too_small(budget: Budget, room: Budget, does: Does) -> BudgetTooSmall:
    """The error for a request to which nothing fits in `room`, which is what `budget` leaves.

    `does` tries a room. With two limits, the one that binds is named; where both bind, both are.
    """
    tokens = _least(room, "documents", without="characters", does=does)
    characters = _least(room, "characters", without="documents", does=does)
    if tokens is not None and characters is not None:
        return _both(room, tokens, characters, does)
    if characters is not None:
        return BudgetTooSmall(room.characters or 0, characters, unit="characters")
    if tokens is None:  # each limit would do without the other, but not together
        tokens = _least(room, "documents", does=does)
    missing = (tokens or 0) - (room.documents or 0)
    if budget.window is not None and (budget.documents or 0) > (room.documents or 0):
        return BudgetTooSmall(
            budget.window,
            budget.window + missing,
            what="with the messages, the query and the reply, the smallest request",
        )
    return BudgetTooSmall(room.documents or 0, tokens or 0)


def _both(room: Budget, tokens: int, characters: int, does: Does) -> BudgetTooSmall:
    """Both limits are too tight; enough of the one is found beside enough of the other."""
    enough = replace(room, characters=characters)
    needed = _least(enough, "documents", does=does) or tokens
    return BudgetTooSmall(
        room.documents or 0,
        needed,
        what=f"the smallest context also needs {characters} characters, and",
    )


def _least(room: Budget, unit: Unit, *, without: Unit | None = None, does: Does) -> int | None:
    """The least amount over the present one that does, other limits lifted; None if none does.

    None as well where the present amount is no hindrance. Doubling, then halving.
    """
    failing: int | None = getattr(room, unit)
    if failing is None:
        return None
    base = room if without is None else _with(room, without, None)
    if base.documents is None and base.characters is None:
        return None
    if does(base):
        return None
    high = failing * 2
    while not does(_with(base, unit, high)):
        failing, high = high, high * 2
        if high > LARGEST:
            return None
    while high - failing > 1:
        middle = (failing + high) // 2
        if does(_with(base, unit, middle)):
            high = middle
        else:
            failing = middle
    return high


def _with(budget: Budget, unit: Unit, amount: int | None) -> Budget:
    if unit == "documents":
        return replace(budget, documents=amount)
    return replace(budget, characters=amount)
