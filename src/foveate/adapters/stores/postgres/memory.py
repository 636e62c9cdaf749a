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

_KEPT = 48_000_000
"""Bytes, at the most."""
_ENTRY = 200
"""Bytes that an entry takes besides its postings."""


class Memory:
    """Postings by audiences and term; safe for threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[bytes, str], bytes] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def known(self, scope: bytes, terms: Iterable[str]) -> dict[str, bytes]:
        """What is there of these terms."""
        found = {}
        with self._lock:
            for term in terms:
                places = self._kept.get((scope, term))
                if places is not None:
                    self._kept.move_to_end((scope, term))
                    found[term] = places
        return found

    def keep(self, scope: bytes, places: Mapping[str, bytes]) -> None:
        """Put what was read where the next question finds it."""
        with self._lock:
            for term, data in places.items():
                self._forget((scope, term))
                self._kept[scope, term] = data
                self._size += len(data) + _ENTRY
            while self._size > _KEPT:
                self._forget(next(iter(self._kept)))

    def _forget(self, key: tuple[bytes, str]) -> None:
        data = self._kept.pop(key, None)
        if data is not None:
            self._size -= len(data) + _ENTRY


def scope_of(audiences: Iterable[Sequence[Any]]) -> bytes:
    """A name for these audiences as they are: of (id, state, chunks, words, writes)."""
    name = blake3()
    for number, state, _, _, writes in audiences:
        name.update(number.to_bytes(8, "little") + writes.to_bytes(8, "little") + state)
    return name.digest()
