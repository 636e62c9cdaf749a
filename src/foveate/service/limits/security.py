"""What browsers are told with every answer, and what they may do on the page.

The page's scripts are files of the service; nothing is loaded from elsewhere and no script stands
in a page. Styles may: the charts set theirs on elements. Answers of the API are data: no page may
show, frame or keep them.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.limits.asgi import on_page

_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_PAGE_MAY = (
    b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    b"img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_OF_THE_PAGE = (b"content-security-policy", _PAGE_MAY)
_OF_DATA = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_NOT_KEPT = (b"cache-control", b"no-store")


class Security:
    """Adds the headers to every answer; one that a route sets itself stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add to the start of the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        ours = (
            (*_ALWAYS, _OF_THE_PAGE) if on_page(scope["path"]) else (*_ALWAYS, _OF_DATA, _NOT_KEPT)
        )

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                names = {name.lower() for name, _ in given}
                given += [(name, value) for name, value in ours if name not in names]
                message = {**message, "headers": given}
            await send(message)

        await self._app(scope, receive, sending)
