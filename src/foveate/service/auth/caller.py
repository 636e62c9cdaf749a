"""Who asks: a key's holder, or whoever is on this machine where there are no keys.

Tenant, principals and scopes are those of the key and of nothing else in a request: a body may
only narrow the principals. `bearer.py` finds the caller before anything of a body is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fastapi import Depends, Request

from foveate.service.auth.keys import SCOPES
from foveate.service.problems import ProblemError


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks. `principals`: the most that this caller may read as; `key_id` None: no keys."""

    key_id: str | None
    tenant: str
    principals: tuple[str, ...]
    scopes: frozenset[str]

    def narrow_principals(self, asked: Iterable[str] | None) -> tuple[str, ...]:
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


class RequireScope:
    """A dependency: the caller, who must have this scope; None for any caller."""

    def __init__(self, scope: str | None) -> None:
        assert scope is None or scope in SCOPES
        self.scope = scope

    async def __call__(self, request: Request) -> Caller:
        """The caller; raises a 403 problem that names the scope."""
        caller: Caller = request.scope["state"]["caller"]
        if self.scope is None or self.scope in caller.scopes:
            return caller
        challenge = f'Bearer realm="foveate", error="insufficient_scope", scope="{self.scope}"'
        raise ProblemError(
            403,
            "scope",
            f"this key is not for that; it needs the scope {self.scope}",
            headers={"WWW-Authenticate": challenge},
            scope=self.scope,
        )


def require_scope(scope: str | None) -> Any:
    """The dependency of a route that needs this scope; None for any caller."""
    return Depends(RequireScope(scope))
