"""Profiles: what was computed of a text in this request, by its content hash.

Every part is a pure function of the text, so a request works it out once. Nothing outlives the
request: what a text is read for costs less than keeping it would.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class HashedText(NamedTuple):
    """A text as it stands in the context, and its content hash; `key` empty: not worth keeping."""

    text: str
    key: str


@dataclass(slots=True, eq=False)
class Profile:
    """The parts that are computed so far.

    `bodies`: the text in the context for each way of writing it; None: unchanged. `shapes`: its
    records, tables and logs.
    """

    bodies: dict[Callable[[str], str], HashedText | None] = field(default_factory=dict)
    shapes: tuple[Any, ...] | None = None


_HELD: ContextVar[dict[str, Profile] | None] = ContextVar("profiles_of_the_request", default=None)


def text_profile(content_hash: str) -> Profile:
    """The profile of the text with this hash: in one request the same one each time."""
    held = _HELD.get()
    if held is None:
        return Profile()
    found = held.get(content_hash)
    if found is None:
        found = held[content_hash] = Profile()
    return found


def holding_profiles(call: Callable[P, T]) -> Callable[P, T]:
    """The call as a request: it holds the profiles that it asks for, up to its end."""

    @wraps(call)
    def request(*args: P.args, **kwargs: P.kwargs) -> T:
        if _HELD.get() is not None:  # a part of a larger request
            return call(*args, **kwargs)
        token = _HELD.set({})
        try:
            return call(*args, **kwargs)
        finally:
            _HELD.reset(token)

    return request
