"""What is known about a text, worked out once: kept by content hash, for as long as it is in use.

Everything here is a pure function of the text, so that remembering it can change no result. A
profile starts empty; whoever needs a part fills it in and finds it there the next time. Two
threads may fill the same part at once: both write the same value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from foveate.core.evidence.index import Index
    from foveate.core.evidence.shelf import Shelf
    from foveate.core.near.signature import Reading, Signature
    from foveate.core.near.texts import Beside

REMEMBERED = 16_384  # texts


class Written(NamedTuple):
    """A text as it stands in the context, and its content hash; `key` empty: not worth keeping."""

    text: str
    key: str


class Piece(NamedTuple):
    """Spans of a text as one text: that, the spans as they were merged, and its content hash."""

    text: str
    spans: tuple[tuple[int, int], ...]
    key: str


@dataclass(slots=True, eq=False)
class Profile:
    """The parts that are worked out so far.

    `sanitised`: the text without hidden characters (None: it has none), and what was changed.
    `bodies`: for each way of writing it, what stands in the context; None: the text as it is.
    `normal`: the content hash of the normalised text. `triples`, `reading`, `facts`, `weights`:
    what the text shares with its copies and must agree on with them; `beside`: how it does.
    `indexes`: its units as search terms, by language; `shelves`: each by its own text. `pieces`:
    parts of it, by their spans.
    `kept`: what a store kept of it, by name, not yet unpacked.
    `passages`: what begins with it, by the content hashes and seams of the texts that follow.
    """

    sanitised: tuple[str | None, Mapping[str, int]] | None = None
    bodies: dict[Callable[[str], str], Written | None] = field(default_factory=dict)
    normal: str | None = None
    triples: Signature | None = None
    reading: Reading | None = None
    facts: tuple[str, ...] | None = None
    weights: frozenset[str] | None = None
    beside: dict[str, Beside] = field(default_factory=dict)
    indexes: dict[str, Index] = field(default_factory=dict)
    shelves: dict[str, Shelf] = field(default_factory=dict)
    kept: Mapping[str, bytes] = field(default_factory=dict)
    pieces: dict[tuple[tuple[int, int], ...], Piece] = field(default_factory=dict)
    passages: dict[tuple[tuple[str, int, str], ...], Written] = field(default_factory=dict)


@lru_cache(maxsize=REMEMBERED)
def profile(content_hash: str) -> Profile:
    """The profile of the text with this hash; the least recently used ones are forgotten."""
    return Profile()
