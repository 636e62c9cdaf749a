"""The body of a request, received whole before anybody works on it: not too large, not too slow.

A slow sender thus holds no place of those who compute, and a packed body is unpacked no further
than a plain one may be long. All bodies that are held at one time are bounded together, too, and
one caller's leave room for others'. What needs no key takes no body: nobody waits for one there,
or anybody could hold all that there is to hold.
"""

from __future__ import annotations

import asyncio
import gc
import re
import zlib
from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.auth.bearer import client_identity
from foveate.service.limits.asgi import (
    has_body,
    header_value,
    is_public,
    send_problem,
    without_headers,
)
from foveate.service.problems import ProblemError, busy_problem

GZIP_WBITS = 16 + zlib.MAX_WBITS
COLLECT_AFTER_BYTES = 4_000_000
"""Bytes of bodies that are not left to the collector, which comes by seldom (`run.py`)."""


UTF8 = {b"utf-8", b"utf8", b"us-ascii"}
"""What a body may be declared as; ASCII is UTF-8 as well."""
_CHARSET = re.compile(rb';[ \t]*charset[ \t]*=[ \t]*"?([^;" \t]*)', re.IGNORECASE)


class _BodyMemory:
    """Bytes of bodies that are held: of all callers `together`, of each key `each`."""

    def __init__(self, *, together: int, each: int) -> None:
        self.together, self.each = together, each
        self.used = 0
        self.by_client: Counter[tuple[str, str]] = Counter()


class _Reservation:
    """What one request holds of it."""

    def __init__(self, room: _BodyMemory, caller: tuple[str, str]) -> None:
        self._room, self._caller = room, caller
        self.size = 0

    def reserve(self, size: int) -> None:
        """Hold so many bytes more; raises a 429 or 503 problem where there is no room for them."""
        room, caller = self._room, self._caller
        if caller[0] == "key" and room.by_client[caller] + size > room.each:
            raise ProblemError(
                429,
                "too-many",
                "too many large bodies of this caller at once; wait for one of them",
                headers={"Retry-After": "1"},
            )
        if room.used + size > room.together:
            raise busy_problem("too many large bodies at once; come again in a second")
        self._add(size)

    def release(self) -> None:
        """It holds nothing any more."""
        self._add(-self.size)

    def _add(self, size: int) -> None:
        self.size += size
        self._room.used += size
        self._room.by_client[self._caller] += size
        if not self._room.by_client[self._caller]:
            del self._room.by_client[self._caller]


class BodyLimit:
    """413 over `most` bytes, packed or unpacked; 408 after `seconds`.

    415 for another packing than gzip, or another character set than UTF-8.
    503 where the bodies of all requests would be more than `together` bytes, 429 where those of one
    key would be more than half of that.
    """

    def __init__(self, app: ASGIApp, *, most: int, together: int, seconds: float) -> None:
        self._app = app
        self._most = most
        self._memory = _BodyMemory(together=max(most, together), each=max(most, together // 2))
        self._seconds = seconds
        self._uncollected = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Receive the body, and hand it on in one piece."""
        if scope["type"] != "http" or is_public(scope["path"]) or not has_body(scope):
            await self._app(scope, receive, send)
            return
        taken = _Reservation(self._memory, client_identity(scope))
        try:
            body = await self._read_body(scope, receive, taken)
        except ProblemError as problem:
            taken.release()
            await send_problem(scope, receive, send, problem)
            return
        except BaseException:
            taken.release()
            raise
        try:
            if body is not None:  # None: the client is gone
                await self._app(scope, _replay_body(body, receive), send)
        finally:
            self._collect_garbage(taken.size)
            taken.release()

    def _collect_garbage(self, size: int) -> None:
        """Let go of what an error and its frames hold, which hold each other; it may be bodies."""
        self._uncollected += size
        if self._uncollected > COLLECT_AFTER_BYTES:
            self._uncollected = 0
            gc.collect(0)

    async def _read_body(
        self, scope: Scope, receive: Receive, taken: _Reservation
    ) -> list[bytes] | None:
        encoding = (header_value(scope, b"content-encoding") or b"identity").strip().lower()
        if encoding not in {b"identity", b"gzip"}:
            raise ProblemError(
                415,
                "packing",
                "a body may be packed with gzip, or not at all",
                headers={"Accept-Encoding": "gzip, identity"},
            )
        declared = _CHARSET.search(header_value(scope, b"content-type") or b"")
        if declared and declared[1].lower() not in UTF8:
            raise ProblemError(
                415, "media-type", "send the body as UTF-8, as JSON is; leave out the charset"
            )
        length = header_value(scope, b"content-length")
        if length is not None and int(length) > self._most:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._seconds):
                pieces = await self._receive_pieces(receive, taken)
        except TimeoutError:
            raise ProblemError(
                408, "slow-body", f"the body must arrive within {self._seconds:g} seconds"
            ) from None
        if pieces is None:
            return None
        body = b"".join(pieces)
        if encoding == b"gzip":
            body = await asyncio.to_thread(self._decompress, body)
            taken.reserve(len(body))
        scope["headers"] = [
            *without_headers(scope, (b"content-encoding", b"content-length", b"transfer-encoding")),
            (b"content-length", b"%d" % len(body)),
        ]
        return [body]

    async def _receive_pieces(self, receive: Receive, taken: _Reservation) -> list[bytes] | None:
        pieces: list[bytes] = []
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            piece = message.get("body", b"")
            taken.reserve(len(piece))
            if taken.size > self._most:
                raise self._too_large()
            pieces.append(piece)
            if not message.get("more_body"):
                return pieces

    def _decompress(self, body: bytes) -> bytes:
        """The body out of its gzip, no further than it may be long."""
        stream = zlib.decompressobj(GZIP_WBITS)
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


def _replay_body(body: list[bytes], receive: Receive) -> Receive:
    """The body in one piece, then whatever comes; it is let go of when it is handed on."""

    async def receiving() -> Message:
        if body:
            return {"type": "http.request", "body": body.pop(), "more_body": False}
        return await receive()

    return receiving
