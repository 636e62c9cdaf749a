"""Ends computing whose time is over, at its next step: a stage, a search, a batch of embeddings."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from math import inf
from time import monotonic

DEADLINE: ContextVar[float] = ContextVar("foveate_deadline", default=inf)
"""When the current work must have ended, by the clock of `monotonic`."""


class DeadlineExceeded(BaseException):
    """Raised in work that is over its time; not an `Exception`, so that no code handles it."""


def check_deadline() -> None:
    """Raise `DeadlineExceeded` if the time of the current work is over."""
    if monotonic() > DEADLINE.get():
        raise DeadlineExceeded


def deadline_observer(_: str) -> AbstractContextManager[None]:
    """An observer that lets no step begin after the deadline."""
    check_deadline()
    return nullcontext()
