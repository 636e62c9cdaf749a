"""Token counts by content hash for one fingerprint, in memory, bounded, safe between threads."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import lru_cache

from foveate.core.bounded_cache import BoundedCache
from foveate.core.errors import BadOption

LIMIT = 6_000_000
"""Bytes: the counts of about 17,000 texts."""
FINGERPRINTS = 4
"""Tokenizers of which a process keeps counts."""


class Counts(MutableMapping[str, int]):
    """Content hash -> tokens, for the tokenizer of this `fingerprint`; at most `limit` bytes.

    >>> known = Counts("simple:1")
    >>> known["a"] = 1
    >>> known, dict(known)
    (Counts('simple:1', limit=6000000), {'a': 1})
    """

    __slots__ = ("_entries", "fingerprint", "get")

    def __init__(self, fingerprint: str, *, limit: int = LIMIT) -> None:
        if limit < 1:
            raise BadOption(f"counts: limit is {limit}; it must be 1 byte or more")
        self.fingerprint = fingerprint
        self._entries: BoundedCache[str, int] = BoundedCache(limit)
        self.get = self._entries.get  # type: ignore[method-assign,assignment]  # asked all the time

    def __getitem__(self, key: str) -> int:
        found = self._entries.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: str, tokens: int) -> None:
        self._entries.put(key, tokens)

    def __delitem__(self, key: str) -> None:
        self._entries.remove(key)

    def __iter__(self) -> Iterator[str]:
        return iter([key for key, _ in self._entries.items()])

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Counts({self.fingerprint!r}, limit={self._entries.limit})"


@lru_cache(maxsize=FINGERPRINTS)
def counts_for(fingerprint: str) -> Counts:
    """The process's own `Counts` for a fingerprint: the same object at every call."""
    return Counts(fingerprint)
