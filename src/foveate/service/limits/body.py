"""Request bodies: received whole before the work, with limits on size and time.

A slow sender thus takes no place of the workers, and a compressed body is unpacked up to the same
limit. All bodies in memory are bounded together, and those of one caller leave room for others.
Public paths take no body, or anybody could fill that room.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections import Counter
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.auth.caller import client_identity
from foveate.service.limits.asgi import (
    Layer,
    has_body,
    header_value,
    is_public,
    send_problem,
    without_headers,
)
from foveate.service.problems import ProblemError, busy_problem

GZIP_WBITS = 16 + zlib.MAX_WBITS
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
    def __init__(self, memory: _BodyMemory, caller: tuple[str, str]) -> None:
        self._memory, self._caller = memory, caller
        self.size = 0

    def reserve(self, size: int) -> None:
        """Hold more bytes; raises a 429 or 503 problem if there is no room for them."""
        memory, caller = self._memory, self._caller
        if caller[0] == "key" and memory.by_client[caller] + size > memory.each:
            detail = "too many large bodies of this caller at once; wait for one of them"
            raise busy_problem(detail, kind="too-many", status=429)
        if memory.used + size > memory.together:
            raise busy_problem("too many large bodies at once; come again in a second")
        self._add(size)

    def release(self) -> None:
        """Give all bytes back."""
        self._add(-self.size)

    def _add(self, size: int) -> None:
        memory = self._memory
        self.size += size
        memory.used += size
        memory.by_client[self._caller] += size
        if not memory.by_client[self._caller]:
            del memory.by_client[self._caller]


class BodyLimit(Layer):
    """413 over `most` bytes, packed or unpacked; 408 after `seconds`.

    415 for another packing than gzip, or another character set than UTF-8.
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
        if is_public(scope["path"]) or not has_body(scope):
            await self._app(scope, receive, send)
            return
        taken = _Reservation(self._memory, client_identity(scope))
        try:
            try:
                body = await self._read_body(scope, receive, taken)
            except ProblemError as problem:
                taken.release()
                await send_problem(scope, receive, send, problem)
                return
            if body is not None:  # None: the client disconnected
                await self._app(scope, _replay_body(body, receive), send)
        finally:
            taken.release()

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
            detail = "send the body as UTF-8, as JSON is; leave out the charset"
            raise ProblemError(415, "media-type", detail)
        length = header_value(scope, b"content-length")
        if length is not None and int(length) > self._most:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._seconds):
                pieces = await self._receive_pieces(receive, taken)
        except TimeoutError:
            detail = f"the body must arrive within {self._seconds:g} seconds"
            raise ProblemError(408, "slow-body", detail) from None
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
        """The body out of its gzip, up to its largest size."""
        stream = zlib.decompressobj(GZIP_WBITS)
        try:
            found = stream.decompress(body, self._most + 1)
        except zlib.error:
            raise ProblemError(400, "packing", "the body is no gzip") from None
        if len(found) > self._most:
            raise self._too_large()
        if not stream.eof or stream.unused_data:
            detail = "the gzip of the body is cut off, or more comes behind it"
            raise ProblemError(400, "packing", detail)
        return found

    def _too_large(self) -> ProblemError:
        detail = f"a body may be {self._most:,} bytes, also when unpacked"
        return ProblemError(413, "too-large", detail)


def _replay_body(body: list[bytes], receive: Receive) -> Receive:
    """The body in one piece, which is released when it is read; then further messages."""

    async def receiving() -> Message:
        if body:
            return {"type": "http.request", "body": body.pop(), "more_body": False}
        return await receive()

    return receiving


DRAIN_SECONDS, PAUSE_SECONDS = 2.0, 0.1
"""Seconds for a client to notice that it is refused, and without a byte of it."""


class UnreadBody(Layer):
    """Closes the connection after a response to a request whose body was not read to its end.

    Otherwise the server would read whatever length the request claims. The client may still be
    sending, and would lose the response if the connection were cut, so for a moment, or until it
    pauses, what it sends is read and dropped.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch whether the body is read before the response ends."""
        if not has_body(scope):
            await self._app(scope, receive, send)
            return
        is_read = False

        async def receive_and_note() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or not message.get("more_body")  # at its end, or disconnected
            return message

        async def send_and_close(message: Message) -> None:
            if is_read:
                await send(message)
            elif message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (b"connection", b"close")]
                await send({**message, "headers": headers})
            elif message.get("more_body"):
                await send(message)
            else:
                await send({**message, "more_body": True})
                await _drain_body(receive_and_note)
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self._app(scope, receive_and_note, send_and_close)


async def _drain_body(receive: Receive) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            more = True
            while more:
                async with asyncio.timeout(PAUSE_SECONDS):
                    more = bool((await receive()).get("more_body"))
