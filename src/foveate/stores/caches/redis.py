"""A cache that replicas share: Redis, or a server that speaks its protocol.

A cache that cannot be reached answers nothing and takes nothing; contexts are then assembled each
time, and `stats` counts the errors. Size and order of forgetting are the server's (`maxmemory`,
`allkeys-lru`); every entry also goes by itself after some hours.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from foveate.core.errors import BadOption, MissingExtra
from foveate.ports import CacheStats

if TYPE_CHECKING:
    from redis import Redis

PREFIX = "foveate:context:"
TIMEOUT_SECONDS = 0.5  # seconds; a cache that answers later than that costs more than it saves


class RedisCache:
    """Entries under `foveate:context:KEY`, forgotten after `hours`. Safe for threads."""

    def __init__(self, url: str, hours: int) -> None:
        try:
            from redis import Redis, RedisError
        except ImportError:
            raise MissingExtra("redis", "redis") from None
        self._failures = RedisError
        self._seconds = hours * 3600
        self._lock = Lock()
        self._hits = self._misses = self._errors = 0
        try:
            self._server: Redis = Redis.from_url(
                url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
            )
        except ValueError as error:
            raise BadOption(f"cache: the Redis URL cannot be used: {error}") from None

    def get(self, key: str) -> bytes | None:
        """What was put under the key; None where it is not there, or nobody answers."""
        try:
            found: Any = self._server.get(PREFIX + key)
        except self._failures:
            self._count(errors=1)
            return None
        self._count(hits=found is not None, misses=found is None)
        return found if isinstance(found, bytes) else None

    def put(self, key: str, value: bytes) -> None:
        """Keep it for some hours, where the server can."""
        try:
            self._server.set(PREFIX + key, value, ex=self._seconds)
        except self._failures:
            self._count(errors=1)

    def stats(self) -> CacheStats:
        """Hits, misses and errors of this process; what the server holds is its own to say."""
        with self._lock:
            return CacheStats(hits=self._hits, misses=self._misses, errors=self._errors)

    def close(self) -> None:
        """Let go of the connections; the entries stay."""
        self._server.close()

    def _count(self, *, hits: int = 0, misses: int = 0, errors: int = 0) -> None:
        with self._lock:
            self._hits += hits
            self._misses += misses
            self._errors += errors
