"""Caches of contexts, in this process or on Redis, opened by URL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from foveate.core.bounded_cache import BoundedCache
from foveate.core.errors import BadOption, MissingExtra, UnknownName
from foveate.core.removed import advice
from foveate.ports import Cache, CacheStats

if TYPE_CHECKING:
    from redis import Redis


MEGABYTE = 1_000_000


class _CountedCache(ABC):
    """A cache that counts its answers. Safe for threads."""

    _failures: tuple[type[Exception], ...] = ()

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers = Counter[str]()

    def get(self, key: str) -> bytes | None:
        """The value of the key; None if it is missing, or cannot be had."""
        try:
            found = self._load(key)
        except self._failures:
            self._count("errors")
            return None
        self._count("misses" if found is None else "hits")
        return found

    def stats(self) -> CacheStats:
        """Hits, misses and errors since it was opened."""
        with self._lock:
            return CacheStats(**self._answers)

    def _count(self, kind: str) -> None:
        with self._lock:
            self._answers[kind] += 1

    @abstractmethod
    def _load(self, key: str) -> bytes | None: ...


class MemoryCache(_CountedCache):
    """Least recently used entries go first; `megabytes`: of keys, values and what they take."""

    def __init__(self, megabytes: int) -> None:
        super().__init__()
        most = megabytes * MEGABYTE
        self._entries = BoundedCache[str, bytes](most, largest=most)

    def put(self, key: str, value: bytes) -> None:
        """Keep it; what is larger than all the room is not kept."""
        self._entries.put(key, value)

    def stats(self) -> CacheStats:
        """The same, and what it holds now."""
        entries, size = len(self._entries), self._entries.bytes
        return replace(super().stats(), entries=entries, bytes=size)

    def close(self) -> None:
        """Forget everything."""
        self._entries.clear()

    def _load(self, key: str) -> bytes | None:
        return self._entries.get(key)


PREFIX = "foveate:context:"
DAY_SECONDS = 86_400
TIMEOUT_SECONDS = 0.5  # seconds; a cache that answers later than that costs more than it saves


class RedisCache(_CountedCache):
    """Entries under `foveate:context:KEY`, forgotten after a day; their bytes are not known."""

    def __init__(self, url: str) -> None:
        super().__init__()
        try:
            from redis import Redis, RedisError
        except ImportError:
            raise MissingExtra("redis", "redis") from None
        self._failures = (RedisError,)
        try:
            self._server: Redis = Redis.from_url(
                url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
            )
            pool = self._server.connection_pool
            pool.connection_class(**pool.connection_kwargs)  # refuses what it does not know
        except (TypeError, ValueError):
            # Their messages repeat what they do not know, which may be a part of a password.
            raise BadOption(
                "cache: the Redis URL cannot be used; write SCHEME://HOST:PORT/DATABASE, behind a "
                "question mark the options of redis-py's connections alone, and percent-encode "
                "what is special in a name or a password"
            ) from None

    def put(self, key: str, value: bytes) -> None:
        """Keep it for a day, where the server can."""
        try:
            self._server.set(PREFIX + key, value, ex=DAY_SECONDS)
        except self._failures:
            self._count("errors")

    def close(self) -> None:
        """Close the connections; the entries stay."""
        self._server.close()

    def _load(self, key: str) -> bytes | None:
        found: Any = self._server.get(PREFIX + key)
        return found if isinstance(found, bytes) else None


SCHEMES = ("memory", "redis", "rediss", "unix")
"""Schemes of caches."""

DEFAULT_MEGABYTES = 64


def open_cache(url: str = "memory:") -> Cache:
    """Open a cache of contexts; the same one may serve many assemblers and threads.

    `memory:` keeps the most recently used in this process, up to 64 MB; `memory:256` up to 256.
    `redis://HOST:PORT/0`, `rediss://…` and `unix:///path/to.sock?db=0` share a Redis between
    replicas; each entry is forgotten 24 hours after it was written.

    >>> open_cache("memory:8").stats().entries
    0

    Raises `UnknownName` for a scheme, `BadOption` for a size that is none, `MissingExtra`.
    """
    scheme, colon, rest = url.partition(":")
    if scheme not in SCHEMES:
        raise UnknownName("cache", f"{scheme}:", [f"{name}:" for name in SCHEMES])
    if scheme == "memory":
        if rest and not (rest.isascii() and rest.isdigit() and int(rest) >= 1):
            raise BadOption(f"cache memory: {rest!r} is not a number of megabytes; give 1 or more")
        return MemoryCache(int(rest or DEFAULT_MEGABYTES))
    if not colon:
        example = "/path/to.sock?db=0" if scheme == "unix" else "HOST:PORT/0"
        raise BadOption(f"cache {scheme!r} has no address; give {scheme}://{example}")
    if "hours" in dict(parse_qsl(url.partition("?")[2], keep_blank_values=True)):
        raise BadOption(f"cache {scheme}: {advice('option', 'redis.hours')}")
    return RedisCache(url)
