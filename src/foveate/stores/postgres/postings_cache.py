"""Postings that were read, kept for the next question: words of questions come again.

Rules: what is kept belongs to one set of audiences as a certain write left it, so that another
write, by whomever, and another reader, find nothing of it; a batch that was undone, a restored dump
and a server that took over lead back to writes that were, or to others, never to the same number
with other rows; what was not asked for longest goes first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

from blake3 import blake3

from foveate.core.bounded_cache import BoundedCache

_MAX_BYTES = 48_000_000
"""Bytes, at the most; the postings of one word may be as many."""
_STATES = 64
"""States of which it is kept that their rows were compared."""


class PostingsCache:
    """Postings by audiences and term; safe for threads."""

    def __init__(self) -> None:
        self._entries: BoundedCache[tuple[bytes, str], bytes] = BoundedCache(
            _MAX_BYTES, largest=_MAX_BYTES
        )
        self._compared: OrderedDict[bytes, None] = OrderedDict()
        self._lock = Lock()

    def get(self, scope: bytes, terms: Iterable[str]) -> dict[str, bytes]:
        """What is there of these terms."""
        found = {term: self._entries.get((scope, term)) for term in terms}
        return {term: places for term, places in found.items() if places is not None}

    def put(self, scope: bytes, places: Mapping[str, bytes]) -> None:
        """Put what was read where the next question finds it."""
        for term, data in places.items():
            self._entries.put((scope, term), data)

    def is_compared(self, scope: bytes) -> bool:
        """Whether the rows of these audiences were compared with their sums in this state."""
        return scope in self._compared

    def note_compared(self, scope: bytes) -> None:
        """They were."""
        with self._lock:
            self._compared[scope] = None
            while len(self._compared) > _STATES:
                self._compared.popitem(last=False)


def scope_key(audiences: Iterable[Sequence[Any]]) -> bytes:
    """A name for these audiences as they are; rows of `sums.AUDIENCE`."""
    name = blake3()
    for number, _, state, _, _, _, _, writes, _ in audiences:
        name.update(number.to_bytes(8, "little") + writes.to_bytes(8, "little") + state)
    return name.digest()
