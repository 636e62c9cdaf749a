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
BudgetUnit = Literal["documents", "characters"]


def budget_too_small_error(budget: Budget, room: Budget, lack: Shortfall) -> BudgetTooSmall:
    """The error for a request to which nothing fits in `room`, which is what `budget` leaves.

    `lack` tries a room. With two limits, the one that binds is named; where both bind, both are.
    """
    tokens = _smallest_amount(room, "documents", without="characters", lack=lack)
    characters = _smallest_amount(room, "characters", without="documents", lack=lack)
    if tokens is not None and characters is not None:
        return _both_limits_error(room, tokens, characters, lack)
    if characters is not None:
        return BudgetTooSmall(room.characters or 0, characters, unit="characters")
    if tokens is None:  # each limit would do without the other, but not together
        tokens = _smallest_amount(room, "documents", lack=lack)
    missing = (tokens or 0) - (room.documents or 0)
    if budget.window is not None and (budget.documents or 0) > (room.documents or 0):
        return BudgetTooSmall(
            budget.window,
            budget.window + missing,
            what="with the messages, the query and the reply, the smallest request",
        )
    return BudgetTooSmall(room.documents or 0, tokens or 0)


def _both_limits_error(
    room: Budget, tokens: int, characters: int, lack: Shortfall
) -> BudgetTooSmall:
    """Both limits are too tight; enough of the one is found beside enough of the other."""
    enough = replace(room, characters=characters)
    needed = _smallest_amount(enough, "documents", lack=lack) or tokens
    return BudgetTooSmall(
        room.documents or 0,
        needed,
        what=f"the smallest context also needs {characters} characters, and",
    )


def _smallest_amount(
    room: Budget, unit: BudgetUnit, *, without: BudgetUnit | None = None, lack: Shortfall
) -> int | None:
    """The least sufficient amount over the present one, other limits lifted; None if there is none.

    A failing room reports how much more it may take. That is tried, then the amount below it, then
    halving.
    """
    failing: int | None = getattr(room, unit)
    if failing is None:
        return None
    base = room if without is None else _with_limit(room, without, None)
    if base.documents is None and base.characters is None:
        return None
    step = lack(base)
    if not step:
        return None
    high = failing + step
    while high <= MAX_BUDGET and (short := lack(_with_limit(base, unit, high))):
        step = max(short, 2 * step)
        failing, high = high, high + step
    if high > MAX_BUDGET:
        return None
    middle = high - 1
    while high - failing > 1:
        if lack(_with_limit(base, unit, middle)):
            failing = middle
        else:
            high = middle
        middle = (failing + high) // 2
    return high


def _with_limit(budget: Budget, unit: BudgetUnit, amount: int | None) -> Budget:
    if unit == "documents":
        return replace(budget, documents=amount)
    return replace(budget, characters=amount)


def smallest_shortfall(trace: Sequence[StageTrace]) -> int:
    """By how little the nearest candidate missed; 0 if no decision says."""
    short = (int(d.numbers.get("short_by", 0)) for stage in trace for d in stage.decisions)
    return min((n for n in short if n > 0), default=0)
