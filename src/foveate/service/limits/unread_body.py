"""Answers that are given before the request's body was read: said, then the connection ends.

Otherwise the server would read on and throw away whatever length the request claimed. The client
may still be sending, and would lose the answer if the line were cut under it, so what it sends is
taken and dropped for a moment, or until it pauses.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.limits.asgi import RESPONSE_SENT, has_body

DRAIN_SECONDS, PAUSE_SECONDS = 2.0, 0.1
"""Seconds for a client to notice that it is refused, and without a byte of it."""


class UnreadBody:
    """Closes the connection behind an answer to a body that nobody read to its end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch whether the body is read before the answer is over."""
        if scope["type"] != "http" or not has_body(scope):
            await self._app(scope, receive, send)
            return
        read = False

        async def receiving() -> Message:
            nonlocal read
            message = await receive()
            read = read or not message.get("more_body")  # at its end, or the client is gone
            return message

        async def sending(message: Message) -> None:
            if read:
                await send(message)
            elif message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (b"connection", b"close")]
                await send({**message, "headers": headers})
            elif message.get("more_body"):
                await send(message)
            else:
                await send({**message, "more_body": True})
                scope.setdefault("state", {})[RESPONSE_SENT] = True
                await _drain_body(receiving)
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self._app(scope, receiving, sending)


async def _drain_body(receive: Receive) -> None:
    """Take what comes, for a moment."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            more = True
            while more:
                async with asyncio.timeout(PAUSE_SECONDS):
                    more = bool((await receive()).get("more_body"))
