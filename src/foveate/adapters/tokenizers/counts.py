"""Token counts by content hash, kept in memory: a text is tokenized once per process.

One `Counts` belongs to one fingerprint; hand it to `Gauge(known=...)`. It is bounded (the oldest
go first) and safe to share between threads. Only speed depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import lru_cache
from itertools import islice
from threading import Lock

from foveate.core.errors import BadOption

SIZE = 200_000
"""Entries: about 30 MB."""
SHARE = 8  # a full memory forgets this part of it at once, so that forgetting costs next to nothing


class Counts(MutableMapping[str, int]):
    """Content hash -> tokens, for the tokenizer of this `fingerprint`; at most `size` entries.

    Reading takes no lock: `get` is the dictionary's own, for it is asked thousands of times in a
    request.

    >>> known = Counts("simple:1", size=2)
    >>> known["a"], known["b"], known["c"] = 1, 2, 3
    >>> dict(known)
    {'b': 2, 'c': 3}
    """

    __slots__ = ("_entries", "_lock", "_size", "fingerprint", "get")

    def __init__(self, fingerprint: str, *, size: int = SIZE) -> None:
        if size < 1:
            raise BadOption(f"counts: size is {size}; it must be 1 or more")
        self.fingerprint = fingerprint
        self._size = size
        self._entries: dict[str, int] = {}
        self._lock = Lock()
        self.get = self._entries.get  # type: ignore[method-assign]

    def __getitem__(self, key: str) -> int:
        return self._entries[key]

    def __setitem__(self, key: str, tokens: int) -> None:
        with self._lock:
            if len(self._entries) >= self._size and key not in self._entries:
                for old in list(islice(self._entries, max(1, self._size // SHARE))):
                    del self._entries[old]
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
        return f"Counts({self.fingerprint!r}, size={self._size})"


@lru_cache(maxsize=16)
def counts_for(fingerprint: str) -> Counts:
    """The process's own `Counts` for a fingerprint: the same object at every call."""
    return Counts(fingerprint)
