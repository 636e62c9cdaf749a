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
from foveate.service.limits.window import Windows

log = logging.getLogger("foveate.service.rates")

SCHEMES = ("redis://", "rediss://", "unix://")
PATIENCE = 0.25
"""Seconds for Redis to answer; it stands before every request."""
AWAY = 5.0
"""Seconds after a failure in which it is not asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a request may go on; else, in how many seconds one may."""

    allowed: bool
    after: int = 0


def rate(text: str) -> RateLimitItem | None:
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


class Rates:
    """Counts requests, in this process or in the Redis at `url`.

    `missed`: see above; `told` is called for each of those.
    """

    def __init__(self, url: str = "", *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._here = MovingWindowRateLimiter(Windows(clock=clock))
        self._shared = MovingWindowRateLimiter(_redis(url)) if url else None
        self._away = 0.0
        self.missed = 0
        self.told: Callable[[], None] = _nobody

    async def hit(self, limit: RateLimitItem, *who: str) -> Verdict:
        """Count a request of `who`, where the limit leaves room for it."""
        if self._shared is not None and self._clock() >= self._away:
            try:
                return await self._asked(self._shared, limit, who)
            except self._shared.storage.base_exceptions as error:
                self._away = self._clock() + AWAY
                log.warning("rates are counted by each process: %s", type(error).__name__)
        if self._shared is not None:
            self.missed += 1
            self.told()
        return await self._asked(self._here, limit, who)

    async def _asked(
        self, limiter: MovingWindowRateLimiter, limit: RateLimitItem, who: tuple[str, ...]
    ) -> Verdict:
        if await limiter.hit(limit, *who):
            return Verdict(allowed=True)
        reset = (await limiter.get_window_stats(limit, *who)).reset_time
        return Verdict(allowed=False, after=max(1, ceil(reset - self._clock())))

    async def close(self) -> None:
        """Let go of the connections."""
        if self._shared is not None:
            storage: Any = self._shared.storage
            await storage.bridge.get_connection().aclose()


def _nobody() -> None:
    """To whom it is told while nobody wants to know."""


def _redis(url: str) -> Any:
    from limits.aio.storage import RedisStorage
    from limits.errors import ConfigurationError

    if not url.startswith(SCHEMES):
        raise BadOption(f"rate_store: give a URL that begins with one of {', '.join(SCHEMES)}")
    try:
        return RedisStorage(
            f"async+{url}".replace("async+unix:", "async+redis+unix:"),
            implementation="redispy",
            key_prefix="foveate:rate",
            socket_timeout=PATIENCE,
            socket_connect_timeout=PATIENCE,
        )
    except ConfigurationError:
        raise MissingExtra("redis", "redis") from None
    except ValueError as error:
        raise BadOption(f"rate_store: the Redis URL cannot be used: {error}") from None
