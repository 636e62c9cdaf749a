"""Under which names the service answers, and for which pages.

A page anywhere can have its name point to 127.0.0.1 and then ask a service on its reader's own
machine (DNS rebinding); the Host header still says the page's name. And a page can send requests
elsewhere without reading the answers; browsers say so in Origin and Sec-Fetch-Site.
"""

from __future__ import annotations

import re
from ipaddress import ip_address

from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.service.limits.asgi import HEALTH_PATHS, header_value, send_problem
from foveate.service.problems import ProblemError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?", re.ASCII)
FOREIGN_SITES = (b"cross-site", b"same-site")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def allowed_hosts(host: str, hosts: tuple[str, ...]) -> frozenset[str] | None:
    """The names to answer to; None for any, where the service is not of this machine alone.

    There keys are needed, which a page cannot make a browser send; `hosts` still narrows.
    """
    if is_loopback(host):
        return frozenset(name.lower() for name in (*LOOPBACK, host, *hosts))
    return frozenset(name.lower() for name in hosts) or None


class HostCheck:
    """421 for a name that is not ours; 403 for a page of another origin that is not let in."""

    def __init__(
        self, app: ASGIApp, *, names: frozenset[str] | None, origins: tuple[str, ...]
    ) -> None:
        self._app = app
        self._names = names
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at the name that was asked for, and at the page that asks."""
        if (
            scope["type"] != "http"
            or scope["path"] in HEALTH_PATHS
            or (problem := self._find_problem(scope)) is None
        ):
            await self._app(scope, receive, send)
        else:
            await send_problem(scope, receive, send, problem)

    def _find_problem(self, scope: Scope) -> ProblemError | None:
        host = (header_value(scope, b"host") or b"").decode("latin-1").lower()
        name = _host_name(host)
        if not name or (self._names is not None and name not in self._names):
            return ProblemError(
                421, "host", "this service does not answer to that name; see its setting hosts"
            )
        if not self._is_allowed_origin(scope, host):
            return ProblemError(
                403, "origin", "pages of other origins may not ask; see the setting origins"
            )
        return None

    def _is_allowed_origin(self, scope: Scope, host: str) -> bool:
        """Whether it comes from no page, from one of ours, or from one that is let in."""
        said = header_value(scope, b"origin")
        if said is not None:
            origin = said.decode("latin-1")
            return origin in self._origins or origin.lower().partition("://")[2] == host
        if header_value(scope, b"sec-fetch-site") not in FOREIGN_SITES:
            return True
        opened = header_value(scope, b"sec-fetch-mode"), header_value(scope, b"sec-fetch-dest")
        return scope["method"] in {"GET", "HEAD"} and opened == (b"navigate", b"document")


def _host_name(host: str) -> str:
    """The name in a Host header, without its port: `[::1]:8020` is `::1`; empty for none."""
    found = _HOST.fullmatch(host)
    return found[1].strip("[]") if found else ""
