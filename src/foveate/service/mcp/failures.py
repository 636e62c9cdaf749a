"""What went wrong in a call → one line that an agent can act on. Never a path, a URL or a trace."""

from __future__ import annotations

from dataclasses import dataclass

from foveate.core.errors import BadRequest, BudgetTooSmall, FoveateError, OutsideFailure

LONGEST = 600
"""Characters of a message; a wrong value can be a megabyte long."""


class Refused(FoveateError):
    """A call that cannot be done as it was asked; says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What to say, the budget that would do where that is known, and whether it is our fault."""

    message: str
    needed: int | None = None
    ours: bool = False


def failure_of(error: BaseException, most: int) -> Failure:
    """The failure to show; `most`: the largest budget that a call may ask for."""
    if isinstance(error, BudgetTooSmall):
        return Failure(message=_too_small(error, most), needed=error.needed)
    if isinstance(error, Refused | BadRequest):
        return Failure(message=short(str(error)))
    if isinstance(error, TimeoutError):
        return Failure(message="this took too long; ask for less: a smaller limit or budget")
    if isinstance(error, OutsideFailure):
        return Failure(message="the store cannot be read now; try again in a minute", ours=True)
    return Failure(message="this failed inside; trying again will not help", ours=True)


def _too_small(error: BudgetTooSmall, most: int) -> str:
    needed = f"budget too small: the smallest context needs {error.needed} {error.unit}"
    if error.needed <= most:
        return f"{needed}, the budget was {error.budget}; ask again with budget={error.needed}"
    return f"{needed}, more than the {most} that a call may ask for; ask about less"


def short(text: str) -> str:
    """One line, shortened in the middle where it is very long."""
    shown = " ".join(text.split())
    if len(shown) <= LONGEST:
        return shown
    return f"{shown[: LONGEST // 2]} … {shown[-LONGEST // 2 :]}"
