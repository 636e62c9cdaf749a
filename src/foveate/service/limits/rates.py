"""Rate limits by key, or by address for requests without one, and limits on concurrent requests.

Rates use a moving window. Replicas share one Redis; while it does not answer, each process counts
alone: limits are looser for that time, and requests go on.
"""

from __future__ import annotations

import logging
import time
from bisect import bisect_right
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from math import ceil
from typing import Any

from limits import RateLimitItem, parse
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter
from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.core.errors import BadOption, MissingExtra
from foveate.service.auth.caller import client_identity
from foveate.service.limits.asgi import HEALTH_PATHS, Layer, is_public, send_problem
from foveate.service.problems import ProblemError, busy_problem

REDIS_SCHEMES = ("redis://", "rediss://", "unix://")
REDIS_TIMEOUT_SECONDS = 0.25
"""Seconds for Redis to answer; every request waits for it."""
REDIS_RETRY_SECONDS = 5.0
"""Seconds after a failure until Redis is used again."""

log = logging.getLogger("foveate.service.rates")


class MovingWindows(MemoryStorage):
    """For each caller the times of its last requests, at most as many as its limit.

    The library's own storage looks at every caller's window with each request. Here a window that
    was not used for its length is removed with a later request of anyone, so that a request costs
    the same however many callers there were.
    """

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._max_expiry = 0

    def __len__(self) -> int:
        return len(self._times)

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Whether there was room for `amount` more within the last `expiry` seconds."""
        now = self._clock()
        self._remove_expired(now, expiry)
        times = self._times.get(key) or deque(maxlen=limit)
        if amount > limit or (
            len(times) > limit - amount and times[len(times) - limit + amount - 1] > now - expiry
        ):
            return False
        times.extend([now] * amount)
        self._times[key] = times
        self._times.move_to_end(key)
        return True

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """The time of the first request in the window, and the number of requests in it."""
        now = self._clock()
        times = list(self._times.get(key, ()))
        first = bisect_right(times, now - expiry)
        return (times[first], len(times) - first) if first < len(times) else (now, 0)

    def _remove_expired(self, now: float, expiry: int) -> None:
        self._max_expiry = max(self._max_expiry, expiry)
        while self._times:
            key, times = next(iter(self._times.items()))
            if times[-1] > now - self._max_expiry:
                return
            del self._times[key]


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

    `on_local_count` is called for each request that was counted here alone because Redis failed.
    """

    def __init__(self, url: str = "", *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._local = MovingWindowRateLimiter(MovingWindows(clock=clock))
        self._shared = MovingWindowRateLimiter(_open_redis(url)) if url else None
        self._retry_at = 0.0
        self.local_count = 0
        self.on_local_count: Callable[[], None] = lambda: None

    async def hit(self, limit: RateLimitItem, *who: str) -> int:
        """Count a request of `who`; 0, or the seconds until the limit leaves room for it."""
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
    ) -> int:
        if await limiter.hit(limit, *who):
            return 0
        reset = (await limiter.get_window_stats(limit, *who)).reset_time
        # Sums of clock readings are rounded: a millionth of a second is no second more to wait.
        return max(1, ceil(reset - self._clock() - 1e-6))

    async def close(self) -> None:
        """Close the connections."""
        if self._shared is not None:
            storage: Any = self._shared.storage
            await storage.bridge.get_connection().aclose()


def _open_redis(url: str) -> Any:
    from limits.aio.storage import RedisStorage
    from limits.errors import ConfigurationError

    if not url.startswith(REDIS_SCHEMES):
        schemes = ", ".join(REDIS_SCHEMES)
        raise BadOption(f"rate_store: give a URL that begins with one of {schemes}")
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


class RateLimit(Layer):
    """429 with the seconds after which one more request is let in.

    A refused request is not counted. Neither are requests without keys on one's own machine, nor
    the files of the playground: they are public, so no key can be tried on them.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        rates: RateCounter,
        key: RateLimitItem | None,
        address: RateLimitItem | None,
    ) -> None:
        super().__init__(app)
        self._rates = rates
        self._limits = {"key": key, "address": address}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the request."""
        kind, name = client_identity(scope)
        limit = None if is_public(scope["path"]) else self._limits.get(kind)
        if limit is not None:
            after = await self._rates.hit(limit, kind, name)
            if after:
                detail = f"{limit} is the rate of one {kind}; come again in {after} seconds"
                refusal = busy_problem(detail, after=after, kind="rate", status=429)
                await send_problem(scope, receive, send, refusal)
                return
        await self._app(scope, receive, send)


class ConcurrencyLimit(Layer):
    """429 over `each` requests of one caller at once, 503 over `all` of all callers.

    Requests without a key reach the playground alone, and get a quarter of the places together: a
    client that reads its files slowly takes no place of a caller with a key.
    """

    def __init__(self, app: ASGIApp, *, each: int, all: int) -> None:
        super().__init__(app)
        self._each, self._all = each, all
        self._by_client: Counter[tuple[str, str]] = Counter()
        self._running = self._without_key = 0

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold a place while the request runs."""
        if scope["path"] in HEALTH_PATHS:
            await self._app(scope, receive, send)
            return
        caller = client_identity(scope)
        problem = self._limit_problem(caller)
        if problem is not None:
            await send_problem(scope, receive, send, problem)
            return
        self._change_counts(caller, 1)
        try:
            await self._app(scope, receive, send)
        finally:
            self._change_counts(caller, -1)

    def _change_counts(self, caller: tuple[str, str], change: int) -> None:
        self._running += change
        if caller[0] == "address":
            self._without_key += change
        self._by_client[caller] += change
        if not self._by_client[caller]:
            del self._by_client[caller]

    def _limit_problem(self, caller: tuple[str, str]) -> ProblemError | None:
        if self._by_client[caller] >= self._each:
            detail = f"{self._each} requests of this caller are under way; wait for one of them"
            return busy_problem(detail, kind="too-many", status=429)
        no_key = caller[0] == "address"
        if self._running >= self._all or (no_key and self._without_key >= max(1, self._all // 4)):
            return busy_problem("all places are taken; come again in a second")
        return None
