"""Callers who ask too often: counted by key, and by address while nobody knows who they are."""

from __future__ import annotations

from limits import RateLimitItem
from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.service.auth.bearer import client_identity
from foveate.service.limits.asgi import is_public, send_problem
from foveate.service.limits.rates import RateCounter
from foveate.service.problems import ProblemError


class RateLimit:
    """429 with the seconds after which one more request is let in.

    A refused request is not counted, so whoever waits as told is served. On a machine of one's own
    without keys nothing is counted, nor are the page's files, of which there are many, all held in
    memory: nobody can try a key on them.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        rates: RateCounter,
        key: RateLimitItem | None,
        address: RateLimitItem | None,
    ) -> None:
        self._app = app
        self._rates = rates
        self._limits = {"key": key, "address": address}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the request."""
        if scope["type"] != "http" or is_public(scope["path"]):
            await self._app(scope, receive, send)
            return
        kind, name = client_identity(scope)
        limit = self._limits.get(kind)
        if limit is not None:
            verdict = await self._rates.hit(limit, kind, name)
            if not verdict.is_allowed:
                await send_problem(
                    scope, receive, send, _rate_problem(limit, kind, verdict.retry_after)
                )
                return
        await self._app(scope, receive, send)


def _rate_problem(limit: RateLimitItem, kind: str, after: int) -> ProblemError:
    return ProblemError(
        429,
        "rate",
        f"{limit} is the rate of one {kind}; come again in {after} seconds",
        headers={"Retry-After": str(after)},
    )
