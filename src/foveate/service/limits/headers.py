"""Rules about headers: sizes, hosts and origins of requests, and security headers of responses.

Two lengths, or a length and chunks, let one request hide behind another past a proxy; two keys or
two hosts may be read in two ways. So each must be alone. A page anywhere can point its name to
127.0.0.1 and send requests to a service there (DNS rebinding); the Host header still has the page's
name. Browsers name the page in Origin and Sec-Fetch-Site.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.limits.asgi import HEALTH_PATHS, Layer
from foveate.service.wire.errors import ProblemError

MAX_HEADERS = 100
SINGLE_HEADERS = ("host", "authorization", "content-length", "content-type", "content-encoding")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
FOREIGN_SITES = ("cross-site", "same-site")
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
_HOST = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?", re.ASCII)


class HeaderLimit(Layer):
    """431 over `most` bytes or 100 headers; 400 for a second value of a header that has one.

    400 too for an address that is not UTF-8.
    """

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        super().__init__(app)
        self._most = most

    def find_problem(self, scope: Scope) -> ProblemError | None:
        """Check the headers alone."""
        found, headers = scope["headers"], Headers(scope=scope)
        size = len(scope["raw_path"]) + len(scope["query_string"])
        size += sum(len(name) + len(value) for name, value in found)
        if size > self._most or len(found) > MAX_HEADERS:
            most = f"{self._most} bytes and {MAX_HEADERS} headers"
            return ProblemError(431, "headers", f"headers and address together may be {most}")
        twice = next((name for name in SINGLE_HEADERS if len(headers.getlist(name)) > 1), None)
        if twice is not None:
            return ProblemError(400, "headers", f"the header {twice} comes twice")
        try:  # else a name would be read as another one
            if scope["path"].startswith("/v1/"):
                unquote_to_bytes(scope["raw_path"] + scope["query_string"]).decode()
        except UnicodeDecodeError:
            return ProblemError(400, "bad-input", "the address is not UTF-8")
        if "transfer-encoding" in headers and "content-length" in headers:
            return ProblemError(400, "headers", "give a content-length or send in chunks, not both")
        return None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def allowed_hosts(host: str, hosts: tuple[str, ...]) -> frozenset[str] | None:
    """The names to answer to; None for any, if the service is not for this machine alone.

    Then keys are needed, which a page cannot make a browser send; `hosts` still narrows.
    """
    if is_loopback(host):
        return frozenset(name.lower() for name in (*LOOPBACK, host, *hosts))
    return frozenset(name.lower() for name in hosts) or None


class HostCheck(Layer):
    """421 for another host name; 403 for a page of another origin that is not let in."""

    def __init__(
        self, app: ASGIApp, *, names: frozenset[str] | None, origins: tuple[str, ...]
    ) -> None:
        super().__init__(app)
        self._names, self._origins = names, frozenset(origins)

    def find_problem(self, scope: Scope) -> ProblemError | None:
        """Check the host name, and the page that sends the request."""
        if scope["path"] in HEALTH_PATHS:
            return None
        host = Headers(scope=scope).get("host", "").lower()
        matched = _HOST.fullmatch(host)
        name = matched[1].strip("[]") if matched else ""  # `[::1]:8020` is `::1`
        if not name or (self._names is not None and name not in self._names):
            detail = "this service does not answer to that name; see its setting hosts"
            return ProblemError(421, "host", detail)
        if not self._is_allowed_origin(scope, host):
            detail = "pages of other origins may not ask; see the setting origins"
            return ProblemError(403, "origin", detail)
        return None

    def _is_allowed_origin(self, scope: Scope, host: str) -> bool:
        """Whether the request comes from no page, from ours, or from an allowed origin."""
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is not None:
            return origin in self._origins or origin.lower().partition("://")[2] == host
        if headers.get("sec-fetch-site") not in FOREIGN_SITES:
            return True
        opened = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
        return scope["method"] in {"GET", "HEAD"} and opened == ("navigate", "document")


class SecurityHeaders(Layer):
    """Adds headers for browsers: no page may show, frame or keep a response.

    A header that a route sets itself stays.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add to the start of the response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                names = {name.lower() for name, _ in headers}
                headers += [(name, value) for name, value in HEADERS if name not in names]
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_with_headers)
