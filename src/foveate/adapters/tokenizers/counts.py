"""Token counts by content hash, kept in memory: a text is tokenized once per process.

One `Counts` belongs to one fingerprint; hand it to `Gauge(known=...)`. It is bounded (least
recently used out first) and safe to share between threads. Only speed depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import lru_cache
from threading import Lock

from foveate.core.errors import BadOption

SIZE = 200_000
"""Entries: about 30 MB."""


class Counts(MutableMapping[str, int]):
    """Content hash -> tokens, for the tokenizer of this `fingerprint`; at most `size` entries.

    >>> known = Counts("simple:1", size=2)
    >>> known["a"], known["b"], known["c"] = 1, 2, 3
    >>> dict(known)
    {'b': 2, 'c': 3}
    """

    __slots__ = ("_entries", "_lock", "fingerprint")

    def __init__(self, fingerprint: str, *, size: int = SIZE) -> None:
        from cachetools import LRUCache

        if size < 1:
            raise BadOption(f"counts: size is {size}; it must be 1 or more")
        self.fingerprint = fingerprint
        self._entries: LRUCache[str, int] = LRUCache(size)
        self._lock = Lock()

    def __getitem__(self, key: str) -> int:
        with self._lock:
            return self._entries[key]

    def __setitem__(self, key: str, tokens: int) -> None:
        with self._lock:
            self._entries[key] = tokens

    def __delitem__(self, key: str) -> None:
        with self._lock:
            del self._entries[key]

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(tuple(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Counts({self.fingerprint!r}, size={int(self._entries.maxsize)})"


@lru_cache(maxsize=16)
def counts_for(fingerprint: str) -> Counts:
    """The process's own `Counts` for a fingerprint: the same object at every call."""
    return Counts(fingerprint)
