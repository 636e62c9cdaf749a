"""How many requests of one caller, and of all, a process works on at once."""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.service.auth.bearer import client_identity
from foveate.service.limits.asgi import HEALTH_PATHS, send_problem
from foveate.service.problems import ProblemError, busy_problem


class ConcurrencyLimit:
    """429 over `each` requests of one caller at once, 503 over `all` of all callers.

    Whoever has no key gets at the page alone, and all of them together at a quarter of the places:
    who takes its files as slowly as may be takes nobody's place who has one.
    """

    def __init__(self, app: ASGIApp, *, each: int, all: int) -> None:
        self._app = app
        self._each = each
        self._all = all
        self._by_client: Counter[tuple[str, str]] = Counter()
        self._running = 0
        self._without_key = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a place while the request is under way."""
        if scope["type"] != "http" or scope["path"] in HEALTH_PATHS:
            await self._app(scope, receive, send)
            return
        caller = client_identity(scope)
        problem = self._limit_problem(caller)
        if problem is not None:
            await send_problem(scope, receive, send, problem)
            return
        stranger = int(caller[0] == "address")
        self._by_client[caller] += 1
        self._running += 1
        self._without_key += stranger
        try:
            await self._app(scope, receive, send)
        finally:
            self._running -= 1
            self._without_key -= stranger
            self._by_client[caller] -= 1
            if not self._by_client[caller]:
                del self._by_client[caller]

    def _limit_problem(self, caller: tuple[str, str]) -> ProblemError | None:
        if self._by_client[caller] >= self._each:
            return ProblemError(
                429,
                "too-many",
                f"{self._each} requests of this caller are under way; wait for one of them",
                headers={"Retry-After": "1"},
            )
        stranger = caller[0] == "address"
        if self._running >= self._all or (stranger and self._without_key >= max(1, self._all // 4)):
            return busy_problem("all places are taken; come again in a second")
        return None
