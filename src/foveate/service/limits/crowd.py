"""How many requests of one caller, and of all, a process works on at once."""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.service.auth.bearer import who
from foveate.service.limits.asgi import HEALTH, refuse
from foveate.service.problems import ProblemError, busy


class Crowd:
    """429 over `each` requests of one caller at once, 503 over `all` of all callers.

    Whoever has no key gets at the page alone, and all of them together at a quarter of the places:
    who takes its files as slowly as may be takes nobody's place who has one.
    """

    def __init__(self, app: ASGIApp, *, each: int, all: int) -> None:
        self._app = app
        self._each = each
        self._all = all
        self._here: Counter[tuple[str, str]] = Counter()
        self._now = 0
        self._strangers = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a place while the request is under way."""
        if scope["type"] != "http" or scope["path"] in HEALTH:
            await self._app(scope, receive, send)
            return
        caller = who(scope)
        problem = self._full(caller)
        if problem is not None:
            await refuse(scope, receive, send, problem)
            return
        stranger = int(caller[0] == "address")
        self._here[caller] += 1
        self._now += 1
        self._strangers += stranger
        try:
            await self._app(scope, receive, send)
        finally:
            self._now -= 1
            self._strangers -= stranger
            self._here[caller] -= 1
            if not self._here[caller]:
                del self._here[caller]

    def _full(self, caller: tuple[str, str]) -> ProblemError | None:
        if self._here[caller] >= self._each:
            return ProblemError(
                429,
                "too-many",
                f"{self._each} requests of this caller are under way; wait for one of them",
                headers={"Retry-After": "1"},
            )
        stranger = caller[0] == "address"
        if self._now >= self._all or (stranger and self._strangers >= max(1, self._all // 4)):
            return busy("all places are taken; come again in a second")
        return None
