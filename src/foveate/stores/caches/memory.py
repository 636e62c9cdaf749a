"""A cache in this process: the most recently used contexts, up to a number of bytes."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from foveate.core.errors import MissingExtra
from foveate.ports import CacheStats

if TYPE_CHECKING:
    from cachetools import LRUCache

MEGABYTE = 1_000_000


class MemoryCache:
    """Least recently used entries go first; `megabytes`: of keys and values. Safe for threads."""

    def __init__(self, megabytes: int) -> None:
        try:
            from cachetools import LRUCache
        except ImportError:
            raise MissingExtra("cachetools", "cache") from None
        self._entries: LRUCache[str, bytes] = LRUCache(megabytes * MEGABYTE, getsizeof=len)
        self._lock = Lock()
        self._hits = self._misses = 0

    def get(self, key: str) -> bytes | None:
        """What was put under the key, unless it was forgotten."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                self._misses += 1
            else:
                self._hits += 1
            return found

    def put(self, key: str, value: bytes) -> None:
        """Keep it; what is larger than all the room is not kept."""
        with self._lock:
            if len(value) <= self._entries.maxsize:
                self._entries[key] = value

    def stats(self) -> CacheStats:
        """Hits and misses since it was opened, and what it holds now."""
        with self._lock:
            return CacheStats(
                hits=self._hits,
                misses=self._misses,
                entries=len(self._entries),
                bytes=int(self._entries.currsize),
            )

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
