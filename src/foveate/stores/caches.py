"""Caches of contexts, in this process or on Redis, opened by URL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from foveate.core.bounded_cache import BoundedCache
from foveate.core.errors import BadOption, MissingExtra, UnknownName
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
TIMEOUT_SECONDS = 0.5  # seconds; a cache that answers later than that costs more than it saves


class RedisCache(_CountedCache):
    """Entries under `foveate:context:KEY`, forgotten after `hours`; their bytes are not known."""

    def __init__(self, url: str, hours: int) -> None:
        super().__init__()
        try:
            from redis import Redis, RedisError
        except ImportError:
            raise MissingExtra("redis", "redis") from None
        self._failures = (RedisError,)
        self._seconds = hours * 3600
        try:
            self._server: Redis = Redis.from_url(
                url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
            )
        except ValueError as error:
            raise BadOption(f"cache: the Redis URL cannot be used: {error}") from None

    def put(self, key: str, value: bytes) -> None:
        """Keep it for some hours, where the server can."""
        try:
            self._server.set(PREFIX + key, value, ex=self._seconds)
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
DEFAULT_HOURS = 24


def open_cache(url: str = "memory:") -> Cache:
    """Open a cache of contexts; the same one may serve many assemblers and threads.

    `memory:` keeps the most recently used in this process, up to 64 MB; `memory:256` up to 256.
    `redis://HOST:PORT/0`, `rediss://…` and `unix:///path/to.sock?db=0` share a Redis between
    replicas; each entry is forgotten 24 hours after it was written, or after `?hours=N`.

    >>> open_cache("memory:8").stats().entries
    0

    Raises `UnknownName` for a scheme, `BadOption` for a size that is none, `MissingExtra`.
    """
    scheme, colon, rest = url.partition(":")
    if scheme not in SCHEMES:
        raise UnknownName("cache", f"{scheme}:", [f"{name}:" for name in SCHEMES])
    if scheme == "memory":
        return MemoryCache(
            _parse_positive(rest or str(DEFAULT_MEGABYTES), url, "a number of megabytes")
        )
    if not colon:
        example = "/path/to.sock?db=0" if scheme == "unix" else "HOST:PORT/0"
        raise BadOption(f"cache {scheme!r} has no address; give {scheme}://{example}")
    place, _, query = url.partition("?")
    options = parse_qsl(query, keep_blank_values=True)
    hours = [value for name, value in options if name == "hours"] or [str(DEFAULT_HOURS)]
    others = urlencode([option for option in options if option[0] != "hours"])
    life = _parse_positive(hours[-1], url, "a number of hours, hours=N")
    return RedisCache(f"{place}?{others}" if others else place, life)


def _parse_positive(text: str, url: str, wanted: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        scheme = url.partition(":")[0]  # the rest may hold a password
        raise BadOption(f"cache {scheme}: {text!r} is not {wanted}; give 1 or more")
    return int(text)
