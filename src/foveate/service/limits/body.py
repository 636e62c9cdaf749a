"""Request bodies: received whole before the work, with limits on size and time.

A slow sender thus takes no place of the workers. All bodies in memory are bounded together, and
those of one caller leave room for others. Public paths take no body, or anybody could fill that
room. Who goes on sending a refused body is cut off by the proxy in front (`deploy/nginx.conf`).
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.auth.caller import client_identity
from foveate.service.limits.asgi import Layer, is_public, send_problem
from foveate.service.wire.errors import ProblemError, busy_problem

UTF8 = {"utf-8", "utf8", "us-ascii"}
"""What a body may be declared as; ASCII is UTF-8 as well."""
_CHARSET = re.compile(r';[ \t]*charset[ \t]*=[ \t]*"?([^;" \t]*)', re.IGNORECASE)


class _BodyMemory:
    """Bytes of bodies that are held: of all callers `together`, of each key `each`."""

    def __init__(self, *, together: int, each: int) -> None:
        self.together, self.each = together, each
        self.used = 0
        self.by_client: Counter[tuple[str, str]] = Counter()

    def reserve(self, caller: tuple[str, str], size: int) -> None:
        """Hold more bytes; raises a 429 or 503 problem if there is no room for them."""
        if caller[0] == "key" and self.by_client[caller] + size > self.each:
            detail = "too many large bodies of this caller at once; wait for one of them"
            raise busy_problem(detail, kind="too-many", status=429)
        if self.used + size > self.together:
            raise busy_problem("too many large bodies at once; come again in a second")
        self.used += size
        self.by_client[caller] += size

    def release(self, caller: tuple[str, str], size: int) -> None:
        """Give bytes back."""
        self.used -= size
        self.by_client[caller] -= size
        if not self.by_client[caller]:
            del self.by_client[caller]


class BodyLimit(Layer):
    """413 over `most` bytes; 408 after `seconds`; 415 if it is packed, or no UTF-8.

    503 if the bodies of all requests would be more than `together` bytes, 429 if those of one key
    would be more than half of that.
    """

    def __init__(self, app: ASGIApp, *, most: int, together: int, seconds: float) -> None:
        super().__init__(app)
        self._most = most
        self._memory = _BodyMemory(together=max(most, together), each=max(most, together // 2))
        self._seconds = seconds

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Receive the body, and hand it on in one piece."""
        headers = Headers(scope=scope)
        is_announced = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        if is_public(scope["path"]) or not is_announced:
            await self._app(scope, receive, send)
            return
        caller, pieces, size = client_identity(scope), list[bytes](), 0
        try:
            try:
                self._check_headers(headers)
                async with asyncio.timeout(self._seconds):
                    async for piece in Request(scope, receive).stream():
                        self._memory.reserve(caller, len(piece))
                        size += len(piece)
                        pieces.append(piece)
                        self._check_size(size)
            except TimeoutError:
                detail = f"the body must arrive within {self._seconds:g} seconds"
                await send_problem(scope, receive, send, ProblemError(408, "slow-body", detail))
            except ProblemError as problem:
                await send_problem(scope, receive, send, problem)
            except ClientDisconnect:
                return
            else:
                body = [b"".join(pieces)]
                pieces.clear()
                await self._app(scope, _replay_body(body, receive), send)
        finally:
            self._memory.release(caller, size)

    def _check_headers(self, headers: Headers) -> None:
        if (headers.get("content-encoding") or "identity").lower() != "identity":
            raise ProblemError(415, "packing", "send the body as it is, without Content-Encoding")
        declared = _CHARSET.search(headers.get("content-type", ""))
        if declared and declared[1].lower() not in UTF8:
            detail = "send the body as UTF-8, as JSON is; leave out the charset"
            raise ProblemError(415, "media-type", detail)
        self._check_size(int(headers.get("content-length") or 0))

    def _check_size(self, size: int) -> None:
        if size > self._most:
            raise ProblemError(413, "too-large", f"a body may be {self._most:,} bytes")


def _replay_body(body: list[bytes], receive: Receive) -> Receive:
    """The body in one piece, which is released when it is read; then further messages."""

    async def receiving() -> Message:
        if body:
            return {"type": "http.request", "body": body.pop(), "more_body": False}
        return await receive()

    return receiving
