"""Profiles: what was computed of a text, kept by its content hash.

Every part is a pure function of the text, so two threads that fill it write the same value. A
request holds the profiles of its texts until it ends; then a bounded cache keeps what fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from operator import attrgetter
from typing import Any, NamedTuple, ParamSpec, TypeVar

from foveate.core.bounded_cache import BoundedCache, size_of

K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")
T = TypeVar("T")

LIMIT = 40_000_000
"""Bytes of all profiles that are kept: those of about 4,000 texts of 200 words."""
EMPTY = 640
"""Bytes of a profile in which nothing is filled in."""


class HashedText(NamedTuple):
    """A text as it stands in the context, and its content hash; `key` empty: not worth keeping."""

    text: str
    key: str


class TextPiece(NamedTuple):
    """Spans of a text as one text: that, the spans as they were merged, and its content hash."""

    text: str
    spans: tuple[tuple[int, int], ...]
    key: str


@dataclass(slots=True, eq=False)
class Profile:
    """The parts that are computed so far.

    `sanitised`: the text without hidden characters (None: it has none), and the counts. `bodies`:
    the text in the context for each way of writing it; None: unchanged. `pieces`: parts by their
    spans. `passages`: joined texts that begin with it. `shapes`: its records, tables and logs;
    None: not looked for. `changed`: something was added since it was last measured.
    """

    sanitised: tuple[str | None, Mapping[str, int]] | None = None
    bodies: dict[Callable[[str], str], HashedText | None] = field(default_factory=dict)
    pieces: dict[tuple[tuple[int, int], ...], TextPiece] = field(default_factory=dict)
    passages: dict[tuple[tuple[str, int, str], ...], HashedText] = field(default_factory=dict)
    shapes: Any = None
    changed: bool = False

    def add(self, part: dict[K, V], key: K, value: V, *, most: int) -> V:
        """Put a value into one of the parts that hold several; a full one is emptied first."""
        if len(part) >= most:
            part.clear()
        part[key] = value
        self.changed = True
        return value


def weight(of: Profile) -> int:
    """Bytes of all that is filled in."""
    return EMPTY + sum([size_of(part) for part in _PARTS(of) if part])


PROFILES: BoundedCache[str, Profile] = BoundedCache(LIMIT, size=weight)
_PARTS = attrgetter(*Profile.__slots__)


class Held(dict[str, Profile]):
    """The profiles that a request asked for."""

    def __missing__(self, content_hash: str) -> Profile:
        """The one that is kept, or an empty one; held from now on."""
        found = self[content_hash] = PROFILES.get(content_hash) or Profile()
        return found


class NotHeld(Held):
    """Outside of a request nothing is held."""

    def __missing__(self, content_hash: str) -> Profile:
        return PROFILES.get(content_hash) or Profile()


_NOTHING = NotHeld()
_HELD: ContextVar[Held] = ContextVar("profiles_of_the_request", default=_NOTHING)


def text_profile(content_hash: str) -> Profile:
    """The profile of the text with this hash: in one request the same one each time."""
    return _HELD.get()[content_hash]


def holding_profiles(call: Callable[P, T]) -> Callable[P, T]:
    """The call as a request: it holds the profiles that it asks for, and keeps them at its end."""

    @wraps(call)
    def request(*args: P.args, **kwargs: P.kwargs) -> T:
        if _HELD.get() is not _NOTHING:  # a part of a larger request
            return call(*args, **kwargs)
        held = Held()
        token = _HELD.set(held)
        try:
            return call(*args, **kwargs)
        finally:
            _HELD.reset(token)
            for content_hash, one in held.items():
                if one.changed:
                    keep_profile(content_hash, one)

    return request


def keep_profile(content_hash: str, filled: Profile) -> None:
    """Keep a profile in which something was filled in, as far as there is room."""
    filled.changed = False  # before it is weighed: another thread may be filling it in
    PROFILES.put(content_hash, filled)
