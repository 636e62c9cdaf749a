"""The smallest budget that would do, found by trying: what `BudgetTooSmall` says is then true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from foveate.core.errors import BudgetTooSmall
from foveate.core.zones import Budget

LARGEST = 2**27  # tokens or characters; no budget over that is tried

Lack = Callable[[Budget], int]  # 0: the room does; else what more it may take, at least 1
Unit = Literal["documents", "characters"]


def too_small(budget: Budget, room: Budget, lack: Lack) -> BudgetTooSmall:
    """The error for a request to which nothing fits in `room`, which is what `budget` leaves.

    `lack` tries a room. With two limits, the one that binds is named; where both bind, both are.
    """
    tokens = _least(room, "documents", without="characters", lack=lack)
    characters = _least(room, "characters", without="documents", lack=lack)
    if tokens is not None and characters is not None:
        return _both(room, tokens, characters, lack)
    if characters is not None:
        return BudgetTooSmall(room.characters or 0, characters, unit="characters")
    if tokens is None:  # each limit would do without the other, but not together
        tokens = _least(room, "documents", lack=lack)
    missing = (tokens or 0) - (room.documents or 0)
    if budget.window is not None and (budget.documents or 0) > (room.documents or 0):
        return BudgetTooSmall(
            budget.window,
            budget.window + missing,
            what="with the messages, the query and the reply, the smallest request",
        )
    return BudgetTooSmall(room.documents or 0, tokens or 0)


def _both(room: Budget, tokens: int, characters: int, lack: Lack) -> BudgetTooSmall:
    """Both limits are too tight; enough of the one is found beside enough of the other."""
    enough = replace(room, characters=characters)
    needed = _least(enough, "documents", lack=lack) or tokens
    return BudgetTooSmall(
        room.documents or 0,
        needed,
        what=f"the smallest context also needs {characters} characters, and",
    )


def _least(room: Budget, unit: Unit, *, without: Unit | None = None, lack: Lack) -> int | None:
    """The least amount over the present one that does, other limits lifted; None if none does.

    None as well where the present amount is no hindrance. A room that fails says how much more it
    may take; that is tried, then the amount below it, and only where that does, halving.
    """
    failing: int | None = getattr(room, unit)
    if failing is None:
        return None
    base = room if without is None else _with(room, without, None)
    if base.documents is None and base.characters is None:
        return None
    step = lack(base)
    if not step:
        return None
    high = failing + step
    while high <= LARGEST and (short := lack(_with(base, unit, high))):
        step = max(short, 2 * step)
        failing, high = high, high + step
    if high > LARGEST:
        return None
    middle = high - 1
    while high - failing > 1:
        if lack(_with(base, unit, middle)):
            failing = middle
        else:
            high = middle
        middle = (failing + high) // 2
    return high


def _with(budget: Budget, unit: Unit, amount: int | None) -> Budget:
    if unit == "documents":
        return replace(budget, documents=amount)
    return replace(budget, characters=amount)
