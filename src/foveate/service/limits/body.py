"""The body of a request, received whole before anybody works on it: not too large, not too slow.

A slow sender thus holds no place of those who compute, and a packed body is unpacked no further
than a plain one may be long. All bodies that are held at one time are bounded together, too, and
one caller's leave room for others'. What needs no key takes no body: nobody waits for one there,
or anybody could hold all that there is to hold.
"""

from __future__ import annotations

import asyncio
import gc
import zlib
from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.auth.bearer import who
from foveate.service.limits.asgi import has_body, header, is_public, refuse, without
from foveate.service.problems import ProblemError, busy

GZIP = 16 + zlib.MAX_WBITS
MUCH = 4_000_000
"""Bytes of bodies that are not left to the collector, which comes by seldom (`run.py`)."""


class _Room:
    """Bytes of bodies that are held: of all callers `together`, of each key `each`."""

    def __init__(self, *, together: int, each: int) -> None:
        self.together, self.each = together, each
        self.held = 0
        self.of: Counter[tuple[str, str]] = Counter()


class _Taken:
    """What one request holds of it."""

    def __init__(self, room: _Room, caller: tuple[str, str]) -> None:
        self._room, self._caller = room, caller
        self.size = 0

    def more(self, size: int) -> None:
        """Hold so many bytes more; raises a 429 or 503 problem where there is no room for them."""
        room, caller = self._room, self._caller
        if caller[0] == "key" and room.of[caller] + size > room.each:
            raise ProblemError(
                429,
                "too-many",
                "too many large bodies of this caller at once; wait for one of them",
                headers={"Retry-After": "1"},
            )
        if room.held + size > room.together:
            raise busy("too many large bodies at once; come again in a second")
        self._add(size)

    def give_back(self) -> None:
        """It holds nothing any more."""
        self._add(-self.size)

    def _add(self, size: int) -> None:
        self.size += size
        self._room.held += size
        self._room.of[self._caller] += size
        if not self._room.of[self._caller]:
            del self._room.of[self._caller]


class Body:
    """413 over `most` bytes, packed or unpacked; 408 after `seconds`; 415 for other packings.

    503 where the bodies of all requests would be more than `together` bytes, 429 where those of one
    key would be more than half of that.
    """

    def __init__(self, app: ASGIApp, *, most: int, together: int, seconds: float) -> None:
        self._app = app
        self._most = most
        self._room = _Room(together=max(most, together), each=max(most, together // 2))
        self._seconds = seconds
        self._since = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Receive the body, and hand it on in one piece."""
        if scope["type"] != "http" or is_public(scope["path"]) or not has_body(scope):
            await self._app(scope, receive, send)
            return
        taken = _Taken(self._room, who(scope))
        try:
            body = await self._body(scope, receive, taken)
        except ProblemError as problem:
            taken.give_back()
            await refuse(scope, receive, send, problem)
            return
        except BaseException:
            taken.give_back()
            raise
        try:
            if body is not None:  # None: the client is gone
                await self._app(scope, _replayed(body, receive), send)
        finally:
            self._tidy(taken.size)
            taken.give_back()

    def _tidy(self, size: int) -> None:
        """Let go of what an error and its frames hold, which hold each other; it may be bodies."""
        self._since += size
        if self._since > MUCH:
            self._since = 0
            gc.collect(0)

    async def _body(self, scope: Scope, receive: Receive, taken: _Taken) -> list[bytes] | None:
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
            taken.more(len(body))
        scope["headers"] = [
            *without(scope, (b"content-encoding", b"content-length", b"transfer-encoding")),
            (b"content-length", b"%d" % len(body)),
        ]
        return [body]

    async def _received(self, receive: Receive, taken: _Taken) -> list[bytes] | None:
        pieces: list[bytes] = []
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            piece = message.get("body", b"")
            taken.more(len(piece))
            if taken.size > self._most:
                raise self._too_large()
            pieces.append(piece)
            if not message.get("more_body"):
                return pieces

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
