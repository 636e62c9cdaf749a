"""The body of a request, received whole before anybody works on it: not too large, not too slow.

A slow sender thus holds no place of those who compute, and a packed body is unpacked no further
than a plain one may be long. All bodies that are held at one time are bounded together, too.
"""

from __future__ import annotations

import asyncio
import zlib

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.limits.asgi import has_body, header, refuse, without
from foveate.service.problems import ProblemError, busy

GZIP = 16 + zlib.MAX_WBITS


class Body:
    """413 over `most` bytes, packed or unpacked; 408 after `seconds`; 415 for other packings.

    503 where the bodies of all requests would be more than `together` bytes.
    """

    def __init__(self, app: ASGIApp, *, most: int, together: int, seconds: float) -> None:
        self._app = app
        self._most = most
        self._together = max(most, together)
        self._seconds = seconds
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Receive the body, and hand it on in one piece."""
        if scope["type"] != "http" or not has_body(scope):
            await self._app(scope, receive, send)
            return
        taken = [0]
        try:
            body = await self._body(scope, receive, taken)
        except ProblemError as problem:
            self._held -= taken.pop()
            await refuse(scope, receive, send, problem)
            return
        except BaseException:
            self._held -= taken.pop()
            raise
        try:
            if body is not None:  # None: the client is gone
                await self._app(scope, _replayed(body, receive), send)
        finally:
            self._held -= taken.pop()

    async def _body(self, scope: Scope, receive: Receive, taken: list[int]) -> list[bytes] | None:
        encoding = (header(scope, b"content-encoding") or b"identity").strip().lower()
        if encoding not in {b"identity", b"gzip"}:
            raise ProblemError(
                415,
                "packing",
                "a body may be packed with gzip, or not at all",
                headers={"Accept-Encoding": "gzip, identity"},
            )
        length = header(scope, b"content-length")
        if length is not None and int(length) > self._most:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._seconds):
                pieces = await self._received(receive, taken)
        except TimeoutError:
            raise ProblemError(
                408, "slow-body", f"the body must arrive within {self._seconds:g} seconds"
            ) from None
        if pieces is None:
            return None
        body = b"".join(pieces)
        if encoding == b"gzip":
            body = await asyncio.to_thread(self._unpacked, body)
            self._take(len(body), taken)
        scope["headers"] = [
            *without(scope, (b"content-encoding", b"content-length", b"transfer-encoding")),
            (b"content-length", b"%d" % len(body)),
        ]
        return [body]

    async def _received(self, receive: Receive, taken: list[int]) -> list[bytes] | None:
        pieces: list[bytes] = []
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            piece = message.get("body", b"")
            self._take(len(piece), taken)
            if taken[0] > self._most:
                raise self._too_large()
            pieces.append(piece)
            if not message.get("more_body"):
                return pieces

    def _take(self, size: int, taken: list[int]) -> None:
        """Hold so many bytes more, where all that are held leave room for it."""
        if self._held + size > self._together:
            raise busy("too many large bodies at once; come again in a second")
        self._held += size
        taken[0] += size

    def _unpacked(self, body: bytes) -> bytes:
        """The body out of its gzip, no further than it may be long."""
        stream = zlib.decompressobj(GZIP)
        try:
            found = stream.decompress(body, self._most + 1)
        except zlib.error:
            raise ProblemError(400, "packing", "the body is no gzip") from None
        if len(found) > self._most:
            raise self._too_large()
        if not stream.eof or stream.unused_data:
            raise ProblemError(
                400, "packing", "the gzip of the body is cut off, or more comes behind it"
            )
        return found

    def _too_large(self) -> ProblemError:
        return ProblemError(
            413, "too-large", f"a body may be {self._most:,} bytes, also when unpacked"
        )


def _replayed(body: list[bytes], receive: Receive) -> Receive:
    """The body in one piece, then whatever comes; it is let go of when it is handed on."""

    async def receiving() -> Message:
        if body:
            return {"type": "http.request", "body": body.pop(), "more_body": False}
        return await receive()

    return receiving
