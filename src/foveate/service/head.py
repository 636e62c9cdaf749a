"""HEAD is answered as GET would be, without the body."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Head:
    """ASGI: the routes know GET alone. Outside of what packs answers, so that sizes agree."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        inner = {**scope, "method": "GET"}

        async def bare(message: Message) -> None:
            if "route" in inner:
                scope["route"] = inner["route"]  # the audit says which it was
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app(inner, receive, bare)
