"""Who sends a request, by the key in its Authorization header; nobody gets past without one.

Two layers, between which requests are counted: `Identify` finds out who it is and refuses nobody,
`RequireKey` refuses whoever is nobody. Both stand before a body is read. Where there is no file of
keys the service is for this machine alone, and whoever is on it may do everything.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.core.errors import ExternalError
from foveate.service.auth.caller import Caller
from foveate.service.auth.keys import KEY_PREFIX_PATTERN, SCOPES, TENANT
from foveate.service.auth.ring import KeyRing
from foveate.service.limits.asgi import header_value, is_public, send_problem
from foveate.service.problems import ProblemError, busy_problem

KEY_IN_URL = "key-in-address"
REALM = 'Bearer realm="foveate"'
_FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip")


class Identify:
    """Puts `caller` (or None) and `refusal` into the request's state. Refuses nobody."""

    def __init__(self, app: ASGIApp, *, ring: KeyRing, principals: tuple[str, ...]) -> None:
        self._app = app
        self._ring = ring
        self._local_caller = Caller(
            key_id=None, tenant=TENANT, principals=principals, scopes=frozenset(SCOPES)
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out who it is."""
        if scope["type"] == "http":
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
        word, _, token = (header_value(scope, b"authorization") or b"").partition(b" ")
        if word.lower() != b"bearer":
            raise _unauthorized("send a key as Authorization: Bearer KEY")
        try:
            key = self._ring.find(token.strip(b" ").decode("latin-1"))
        except ExternalError:
            raise busy_problem(
                "keys cannot be checked at the moment", after=5, kind="keys"
            ) from None
        if key is None:
            raise _unauthorized("this key is not known, or counts no more", error="invalid_token")
        return Caller(
            key_id=key.id,
            tenant=key.tenant,
            principals=key.principals,
            scopes=frozenset(key.scopes),
        )

    def _resolve_local_caller(self, scope: Scope) -> Caller:
        """Whoever it is, unless somebody passed the request on: others stand behind that."""
        if any(name in _FORWARDED for name, _ in scope["headers"]):
            raise ProblemError(
                403,
                "proxied",
                "without keys this service is for its own machine, and this request came through "
                "a proxy; make a key: foveate keys add",
            )
        return self._local_caller


class RequireKey:
    """Lets callers through, and everybody to the page and to the state of health.

    A key in an address is refused there too: it is out, and whoever has put it there must hear.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse whoever is nobody."""
        refusal = scope["state"]["refusal"] if scope["type"] == "http" else None
        if refusal is None or (is_public(scope["path"]) and refusal.kind != KEY_IN_URL):
            await self._app(scope, receive, send)
        else:
            await send_problem(scope, receive, send, refusal)


def client_identity(scope: Scope) -> tuple[str, str]:
    """Under which name requests are counted: the key's, or the address of whoever has none.

    Of a version 6 address its network, since whoever has one address there has all of it.
    """
    caller: Caller | None = scope["state"].get("caller")
    if caller is not None:
        return ("key", caller.key_id) if caller.key_id else ("machine", "")
    host = (scope.get("client") or ("", 0))[0]
    try:
        address = ip_address(host)
    except ValueError:
        return ("address", "unknown")
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return ("address", str(mapped or IPv6Address(int(address) >> 64 << 64)))
    return ("address", str(address))


def _unauthorized(detail: str, *, error: str = "") -> ProblemError:
    challenge = f'{REALM}, error="{error}"' if error else REALM
    return ProblemError(401, "key", detail, headers={"WWW-Authenticate": challenge})
