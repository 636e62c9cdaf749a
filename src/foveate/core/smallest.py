"""The smallest budget that would do, found by trying: what `BudgetTooSmall` says is then true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from foveate.core.errors import BudgetTooSmall
from foveate.core.types import StageTrace
from foveate.core.zones import Budget

MAX_BUDGET = 2**27  # tokens or characters; no budget over that is tried

Shortfall = Callable[[Budget], int]  # 0: the room does; else what more it may take, at least 1


def budget_too_small_error(budget: Budget, room: Budget, lack: Shortfall) -> BudgetTooSmall:
    """The error for a request to which nothing fits in `room`, which is what `budget` leaves.

    `lack` tries a room. With two limits, the one that binds is named; where both bind, both are:
    tokens beside enough characters.
    """
    lifted = replace(room, documents=None) if room.characters else room
    characters = _smallest_amount(lifted, "characters", lack)
    beside = replace(room, characters=characters) if characters else room
    tokens = _smallest_amount(beside, "documents", lack)
    if characters and not tokens:
        return BudgetTooSmall(room.characters or 0, characters, unit="characters")
    if characters:
        what = f"the smallest context also needs {characters} characters, and"
        return BudgetTooSmall(room.documents or 0, tokens, what=what)
    if budget.window is not None and (budget.documents or 0) > (room.documents or 0):
        missing = tokens - (room.documents or 0)
        what = "with the messages, the query and the reply, the smallest request"
        return BudgetTooSmall(budget.window, budget.window + missing, what=what)
    return BudgetTooSmall(room.documents or 0, tokens)


def _smallest_amount(
    room: Budget, unit: Literal["documents", "characters"], lack: Shortfall
) -> int:
    """The least sufficient amount; 0 if the room does, has no such limit, or none is found."""
    failing: int | None = getattr(room, unit)
    if failing is None or not (step := lack(room)):
        return 0
    return least_sufficient(failing, step, lambda amount: lack(replace(room, **{unit: amount})))


def least_sufficient(failing: int, step: int, lack: Callable[[int], int]) -> int:
    """The least amount that does, above one that fails by `step`; 0 if none is found.

    `lack`: 0 if an amount does, else what more it may take. That is tried, then the amount below
    it, then halving.
    """
    high = failing + step
    while high <= MAX_BUDGET and (short := lack(high)):
        step = max(short, 2 * step)
        failing, high = high, high + step
    if high > MAX_BUDGET:
        return 0
    middle = high - 1
    while high - failing > 1:
        failing, high = (middle, high) if lack(middle) else (failing, middle)
        middle = (failing + high) // 2
    return high


def smallest_shortfall(trace: Sequence[StageTrace]) -> int:
    """By how little the nearest candidate missed; 0 if no decision says."""
    short = (int(d.numbers.get("short_by", 0)) for stage in trace for d in stage.decisions)
    return min((n for n in short if n > 0), default=0)
