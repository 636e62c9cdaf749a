"""How many requests in how much time: by key, and by address for whoever sends none that counts.

A moving window: in no stretch of the window's length are there more than so many. Replicas share
one Redis. Where it does not answer, each process counts by itself until it is back, so that limits
are looser for that time and requests go on; `missed` counts those that were counted here alone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

from limits import RateLimitItem, parse
from limits.aio.strategies import MovingWindowRateLimiter

from foveate.core.errors import BadOption, MissingExtra
from foveate.service.limits.window import MovingWindows

log = logging.getLogger("foveate.service.rates")

REDIS_SCHEMES = ("redis://", "rediss://", "unix://")
REDIS_TIMEOUT_SECONDS = 0.25
"""Seconds for Redis to answer; it stands before every request."""
REDIS_RETRY_SECONDS = 5.0
"""Seconds after a failure in which it is not asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateDecision:
    """Whether a request may go on; else, in how many seconds one may."""

    is_allowed: bool
    retry_after: int = 0


def parse_rate(text: str) -> RateLimitItem | None:
    """`600/minute` as a rate; None for the empty text, which is no limit."""
    if not text.strip():
        return None
    try:
        found = parse(text)
    except ValueError:
        found = None
    if found is None or found.amount < 1:
        raise BadOption(f"rate {text!r}: write it as 600/minute, or '' for no limit")
    return found


class RateCounter:
    """Counts requests, in this process or in the Redis at `url`.

    `missed`: see above; `told` is called for each of those.
    """

    def __init__(self, url: str = "", *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._local = MovingWindowRateLimiter(MovingWindows(clock=clock))
        self._shared = MovingWindowRateLimiter(_open_redis(url)) if url else None
        self._retry_at = 0.0
        self.local_count = 0
        self.on_local_count: Callable[[], None] = _do_nothing

    async def hit(self, limit: RateLimitItem, *who: str) -> RateDecision:
        """Count a request of `who`, where the limit leaves room for it."""
        if self._shared is not None and self._clock() >= self._retry_at:
            try:
                return await self._check_limit(self._shared, limit, who)
            except self._shared.storage.base_exceptions as error:
                self._retry_at = self._clock() + REDIS_RETRY_SECONDS
                log.warning("rates are counted by each process: %s", type(error).__name__)
        if self._shared is not None:
            self.local_count += 1
            self.on_local_count()
        return await self._check_limit(self._local, limit, who)

    async def _check_limit(
        self, limiter: MovingWindowRateLimiter, limit: RateLimitItem, who: tuple[str, ...]
    ) -> RateDecision:
        if await limiter.hit(limit, *who):
            return RateDecision(is_allowed=True)
        reset = (await limiter.get_window_stats(limit, *who)).reset_time
        # Sums of clock readings are rounded: a millionth of a second is no second more to wait.
        seconds = ceil(reset - self._clock() - 1e-6)
        return RateDecision(is_allowed=False, retry_after=max(1, seconds))

    async def close(self) -> None:
        """Let go of the connections."""
        if self._shared is not None:
            storage: Any = self._shared.storage
            await storage.bridge.get_connection().aclose()


def _do_nothing() -> None:
    """To whom it is told while nobody wants to know."""


def _open_redis(url: str) -> Any:
    from limits.aio.storage import RedisStorage
    from limits.errors import ConfigurationError

    if not url.startswith(REDIS_SCHEMES):
        raise BadOption(
            f"rate_store: give a URL that begins with one of {', '.join(REDIS_SCHEMES)}"
        )
    try:
        return RedisStorage(
            f"async+{url}".replace("async+unix:", "async+redis+unix:"),
            implementation="redispy",
            key_prefix="foveate:rate",
            socket_timeout=REDIS_TIMEOUT_SECONDS,
            socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
        )
    except ConfigurationError:
        raise MissingExtra("redis", "redis") from None
    except ValueError as error:
        raise BadOption(f"rate_store: the Redis URL cannot be used: {error}") from None
