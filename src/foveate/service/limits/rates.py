"""Rate limits by key, and limits on concurrent requests.

Rates use a moving window. Each process counts for itself: replicas and workers that are to share a
limit have it in the proxy in front of them (`limit_req`, in `deploy/nginx.conf`). Who has no key is
not counted: to refuse a request because of a rate costs as much as to refuse it without one.
"""

from __future__ import annotations

import re
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.core.errors import BadOption
from foveate.service.auth.caller import client_identity
from foveate.service.limits.asgi import HEALTH_PATHS, Layer, is_public, send_problem
from foveate.service.wire.errors import ProblemError, busy_problem

_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
_RATE = re.compile(
    rf"\s*(\d+)\s*(?:/|per)\s*(\d+)?\s*({'|'.join(_SECONDS)})s?\s*", re.ASCII | re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `amount` requests in any `seconds`; `text` says it."""

    amount: int
    seconds: int
    text: str


def parse_rate(text: str) -> Rate | None:
    """`600/minute` or `5 per 2 seconds` as a rate; None for the empty text, which is no limit."""
    if not text.strip():
        return None
    found = _RATE.fullmatch(text)
    if found is None or not int(found[1]) or not int(found[2] or 1):
        raise BadOption(f"rate {text!r}: write it as 600/minute, or '' for no limit")
    amount, many, unit = int(found[1]), int(found[2] or 1), found[3].lower()
    return Rate(amount, many * _SECONDS[unit], f"{amount} per {many} {unit}")


class RateCounter:
    """The times of each key's last requests, at most as many as the rate allows.

    A window that was not used for its length is removed with a later request of anyone, so that a
    request costs the same however many keys there were.
    """

    def __init__(self, rate: Rate, *, clock: Callable[[], float] = time.time) -> None:
        self._clock, self.rate = clock, rate
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._times)

    def hit(self, who: str) -> int:
        """Count a request of `who`; 0, or the seconds until the rate leaves room for it."""
        now, rate = self._clock(), self.rate
        while self._times and next(iter(self._times.values()))[-1] <= now - rate.seconds:
            self._times.popitem(last=False)
        times = self._times.setdefault(who, deque(maxlen=rate.amount))
        if len(times) == rate.amount and times[0] > now - rate.seconds:
            # Sums of clock readings are rounded: a millionth of a second is no second more to wait.
            return max(1, ceil(times[0] + rate.seconds - now - 1e-6))
        times.append(now)
        self._times.move_to_end(who)
        return 0


class RateLimit(Layer):
    """429 with the seconds after which one more request is let in.

    A refused request is not counted, nor are requests without keys on one's own machine, and those
    for public paths.
    """

    def __init__(self, app: ASGIApp, *, rate: Rate | None) -> None:
        super().__init__(app)
        self._counter = RateCounter(rate) if rate is not None else None

    def find_problem(self, scope: Scope) -> ProblemError | None:
        """Count the request."""
        kind, name = client_identity(scope)
        if self._counter is None or kind != "key" or is_public(scope["path"]):
            return None
        after = self._counter.hit(name)
        if not after:
            return None
        detail = f"{self._counter.rate.text} is the rate of one key; come again in {after} seconds"
        return busy_problem(detail, after=after, kind="rate", status=429)


class ConcurrencyLimit(Layer):
    """429 over `each` requests of one caller at once, 503 over `all` of all callers.

    Requests without a key reach the playground alone, and get a quarter of the places together: a
    client that reads its files slowly takes no place of a caller with a key.
    """

    def __init__(self, app: ASGIApp, *, each: int, all: int) -> None:
        super().__init__(app)
        self._each, self._all = each, all
        self._by_client: Counter[tuple[str, str]] = Counter()
        self._running = 0

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
        self._by_client[caller] += change
        if not self._by_client[caller]:
            del self._by_client[caller]

    def _limit_problem(self, caller: tuple[str, str]) -> ProblemError | None:
        unknown, own = caller[0] == "unknown", self._by_client[caller]
        if own >= self._each and not unknown:
            detail = f"{self._each} requests of this caller are under way; wait for one of them"
            return busy_problem(detail, kind="too-many", status=429)
        if self._running >= self._all or (unknown and own >= max(1, self._all // 4)):
            return busy_problem("all places are taken; come again in a second")
        return None
