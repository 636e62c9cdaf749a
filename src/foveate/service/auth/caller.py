"""Who asks: a key's holder, or whoever is on this machine where there are no keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fastapi import Depends, Request

from foveate.service.problems import ProblemError

SCOPES = ("assemble", "search", "ask", "check", "replay", "read", "write", "metrics", "mcp")
TENANT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks. `principals`: the most that this caller may read as; `key_id` None: no keys."""

    key_id: str | None
    tenant: str
    principals: tuple[str, ...]
    scopes: frozenset[str]

    def reading_as(self, asked: Iterable[str] | None) -> tuple[str, ...]:
        """As whom the caller reads: all it may, or the fewer it asks for.

        Raises a 403 problem for one that it may not read as; it does not say which.
        """
        if asked is None:
            return self.principals
        names = tuple(asked)
        if not set(names) <= set(self.principals):
            raise ProblemError(
                403,
                "principals",
                "this caller may not read as all of these principals; name fewer, or none",
                field="principals",
            )
        return names


def caller_with(scope: str | None) -> Any:
    """The dependency of a route that needs this scope; None for any caller."""

    async def caller(request: Request) -> Caller:
        settings = request.app.state.settings
        return Caller(
            key_id=None,
            tenant=TENANT,
            principals=settings.principals,
            scopes=frozenset(SCOPES),
        )

    return Depends(caller)
