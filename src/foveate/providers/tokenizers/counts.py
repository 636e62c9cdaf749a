"""Token counts by content hash for one fingerprint, in memory, bounded, safe between threads."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import lru_cache

from foveate.core.bounded_cache import BoundedCache

LIMIT = 6_000_000
"""Bytes: the counts of about 17,000 texts."""
FINGERPRINTS = 4
"""Tokenizers of which a process keeps counts."""


class Counts(MutableMapping[str, int]):
    """Content hash -> tokens, for one tokenizer; at most `limit` bytes."""

    __slots__ = ("_entries", "get")

    def __init__(self, limit: int = LIMIT) -> None:
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


@lru_cache(maxsize=FINGERPRINTS)
def counts_for(_fingerprint: str) -> Counts:
    """The process's own `Counts` for a fingerprint: the same object at every call."""
    return Counts()
