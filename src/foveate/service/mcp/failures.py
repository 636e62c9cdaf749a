"""What went wrong in a call → one line that an agent can act on. Never a path, a URL or a trace."""

from __future__ import annotations

from dataclasses import dataclass

from foveate.core.errors import BudgetTooSmall, ExternalError, FoveateError, InvalidRequest

MAX_MESSAGE_LENGTH = 600
"""Characters of a message; a wrong value can be a megabyte long."""


class ToolCallError(FoveateError):
    """A call that cannot be done as it was asked; says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What to say, the budget that would do where that is known, and whether it is our fault."""

    message: str
    needed: int | None = None
    is_internal: bool = False


def failure_from_error(error: BaseException, most: int) -> Failure:
    """The failure to show; `most`: the largest budget that a call may ask for."""
    if isinstance(error, BudgetTooSmall):
        return Failure(message=_budget_message(error, most), needed=error.needed)
    if isinstance(error, ToolCallError | InvalidRequest):
        return Failure(message=shorten(str(error)))
    if isinstance(error, TimeoutError):
        return Failure(message="this took too long; ask for less: a smaller limit or budget")
    if isinstance(error, ExternalError):
        return Failure(
            message="the store cannot be read now; try again in a minute", is_internal=True
        )
    return Failure(message="this failed inside; trying again will not help", is_internal=True)


def _budget_message(error: BudgetTooSmall, most: int) -> str:
    needed = f"budget too small: the smallest context needs {error.needed} {error.unit}"
    if error.needed <= most:
        return f"{needed}, the budget was {error.budget}; ask again with budget={error.needed}"
    return f"{needed}, more than the {most} that a call may ask for; ask about less"


def shorten(text: str) -> str:
    """One line, shortened in the middle where it is very long."""
    shown = " ".join(text.split())
    if len(shown) <= MAX_MESSAGE_LENGTH:
        return shown
    return f"{shown[: MAX_MESSAGE_LENGTH // 2]} … {shown[-MAX_MESSAGE_LENGTH // 2 :]}"
