"""The caller of a request: found by the key in its Authorization header, before a body is read.

`Identify` finds the caller and refuses no request; `RequireKey` refuses a request without a caller;
requests are counted between the two. Without a file of keys the service is for this machine alone,
and every caller on it may do everything. Tenant, principals and scopes are those of the key alone:
a body may only narrow the principals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.core.errors import ExternalError
from foveate.service.auth.keys import KEY_PREFIX_PATTERN, SCOPES, TENANT
from foveate.service.auth.ring import KeyRing
from foveate.service.limits.asgi import Layer, is_public
from foveate.service.wire.errors import ProblemError, busy_problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller of a request. `principals`: the most it may read as; `key_id` None: no keys."""

    key_id: str | None
    tenant: str
    principals: tuple[str, ...]
    scopes: frozenset[str]

    def narrow_principals(self, asked: Iterable[str] | None) -> tuple[str, ...]:
        """The principals of a request: all of the caller's, or the fewer it names.

        Raises a 403 problem for any other principal, without naming it.
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
    """A dependency: the caller, with this scope; None for any caller."""

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


KEY_IN_URL = "key-in-address"
REALM = 'Bearer realm="foveate"'
_FORWARDED = re.compile(
    rb"forwarded|via|x-forwarded-[a-z-]+|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip"
)
"""Headers that proxies add; one that adds none of them is not noticed."""


class Identify(Layer):
    """Puts `caller` (or None) and `refusal` into the request's state. Refuses no request."""

    def __init__(self, app: ASGIApp, *, ring: KeyRing, principals: tuple[str, ...]) -> None:
        super().__init__(app)
        self._ring = ring
        self._local_caller = Caller(
            key_id=None, tenant=TENANT, principals=principals, scopes=frozenset(SCOPES)
        )

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find the caller by its key."""
        state = scope.setdefault("state", {})
        state["caller"], state["refusal"] = None, None
        try:
            state["caller"] = self._find_caller(scope)
        except ProblemError as refusal:
            state["refusal"] = refusal
        await self._app(scope, receive, send)

    def _find_caller(self, scope: Scope) -> Caller:
        if KEY_PREFIX_PATTERN.search(
            unquote_to_bytes(scope["raw_path"] + b"?" + scope["query_string"])
        ):
            raise ProblemError(
                400,
                KEY_IN_URL,
                "a key stood in the address, where logs keep it: revoke it, "
                "and send the next one as Authorization: Bearer KEY",
            )
        if not self._ring.in_use:
            return self._resolve_local_caller(scope)
        word, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        if word.lower() != "bearer":
            raise _unauthorized("send a key as Authorization: Bearer KEY")
        try:
            key = self._ring.find(token.strip(" "))
        except ExternalError:
            detail = "keys cannot be checked at the moment"
            raise busy_problem(detail, after=5, kind="keys") from None
        if key is None:
            raise _unauthorized("this key is not known, or counts no more", error="invalid_token")
        return Caller(
            key_id=key.id,
            tenant=key.tenant,
            principals=key.principals,
            scopes=frozenset(key.scopes),
        )

    def _resolve_local_caller(self, scope: Scope) -> Caller:
        """The local caller; raises a 403 problem for a request that a proxy forwarded."""
        if any(_FORWARDED.fullmatch(name) for name, _ in scope["headers"]):
            raise ProblemError(
                403,
                "proxied",
                "without keys this service is for its own machine, and this request came through "
                "a proxy; make a key: foveate keys add",
            )
        return self._local_caller


class RequireKey(Layer):
    """Refuses requests without a caller, except to public paths.

    A key in a URL is refused there too: it is revealed, and its holder must learn of it.
    """

    def find_problem(self, scope: Scope) -> ProblemError | None:
        """The reason that `Identify` found."""
        refusal: ProblemError | None = scope["state"]["refusal"]
        if refusal is None or (is_public(scope["path"]) and refusal.kind != KEY_IN_URL):
            return None
        return refusal


def client_identity(scope: Scope) -> tuple[str, str]:
    """The name under which requests are counted: the key's, this machine's, or unknown.

    The proxy in front tells addresses apart (`limit_conn`, in `deploy/nginx.conf`).
    """
    caller: Caller | None = scope["state"].get("caller")
    if caller is None:
        return ("unknown", "")
    return ("key", caller.key_id) if caller.key_id else ("machine", "")


def _unauthorized(detail: str, *, error: str = "") -> ProblemError:
    challenge = f'{REALM}, error="{error}"' if error else REALM
    return ProblemError(401, "key", detail, headers={"WWW-Authenticate": challenge})
