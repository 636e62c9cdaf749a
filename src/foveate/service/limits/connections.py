"""Connections that are held without use: those who send no request, and those who take no answer.

The server by itself waits for a request's headers, and for a reader of its answer, for ever. Here
both have a time. Where all connections are taken, the one that has been silent for longest goes:
whoever opens many and says nothing only displaces others who do the same.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from foveate.service.limits.asgi import RESPONSE_SENT

LIMITS_KEY = "foveate.connections"
"""Where the application's lifespan puts the bounds, for connections to find."""

MIN_BYTES_READ = 16_384
"""Bytes that a client must take in `write_seconds`, where so many wait for it."""
MAX_WRITE_PERIODS = 20
"""Times `write_seconds` in which it must have taken all that waits, however much that is: else
an answer of megabytes would hold its place, and its memory, for hours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """`most` connections; seconds for headers to arrive whole, and for an answer to move on."""

    connections: int = 512
    header_bytes: int = 16_384
    header_seconds: float = 10.0
    write_seconds: float = 30.0


class Connection(H11Protocol):
    """The server's connection, with an end to its patience."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._bounds: ConnectionLimits = self.app_state.get(LIMITS_KEY) or ConnectionLimits()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.idle_since = self.loop.time()
        self._most_unsent = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client came; where it is one too many, the idlest one leaves."""
        super().connection_made(transport)
        _set_no_delay(transport.get_extra_info("socket"))
        if len(self.connections) > self._bounds.connections:
            ours = [c for c in self.connections if isinstance(c, Connection) and c.is_closable]
            idle = [c for c in ours if not c.transport.is_closing()]
            min(idle, key=lambda c: c.idle_since, default=self).drop()
        self._start_timer("headers", self._bounds.header_seconds, self.drop)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over, and so is the waiting."""
        for name in list(self._timers):
            self._cancel_timer(name)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Bytes came, or a request is done: is there one half here?"""
        super().handle_events()
        if not self.is_idle:
            self._cancel_timer("headers")
        elif self.conn.trailing_data[0]:
            self._start_timer("headers", self._bounds.header_seconds, self.drop)

    def on_response_complete(self) -> None:
        """An answer was given; from now on the connection is idle."""
        self.idle_since = self.loop.time()
        super().on_response_complete()
        if self.transport.is_closing():
            self._watch_writes()

    def timeout_keep_alive_handler(self) -> None:
        """Nobody asks any more: close, and do not wait for ever for what was not taken."""
        super().timeout_keep_alive_handler()
        self._watch_writes()

    def pause_writing(self) -> None:
        """The client does not take what is sent to it."""
        super().pause_writing()
        self._watch_writes()

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        self._cancel_timer("writing")
        self._most_unsent = 0

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP, or has headers without an end, is refused like everything else."""
        if self.cycle is not None and self.cycle.response_started and not self.is_idle:
            self.drop()
            return
        long = len(self.conn.trailing_data[0]) >= self._bounds.header_bytes
        status = HTTPStatus(431 if long else 400)
        detail = "the headers are too long" if long else "this is no HTTP request"
        self.transport.write(_problem_bytes(status, detail))
        self.transport.close()
        self._watch_writes()

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way on it."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def is_closable(self) -> bool:
        """Whether it may end for another one: nothing is to come of it that anybody waits for."""
        return self.is_idle or RESPONSE_SENT in (self.scope or {}).get("state", {})

    def drop(self) -> None:
        """End it now, whatever is still to be sent."""
        self.transport.abort()

    def _reset_connection(self) -> None:
        """The same, with what the system holds for the client: it would for minutes."""
        wire = self.transport.get_extra_info("socket")
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.drop()

    def _watch_writes(self) -> None:
        """From now on some of what waits to be sent must go, time after time."""
        unsent = self.transport.get_write_buffer_size()
        self._most_unsent = max(self._most_unsent, unsent)

        def look() -> None:
            del self._timers["writing"]
            left = self.transport.get_write_buffer_size()
            if left and left > unsent - max(MIN_BYTES_READ, self._most_unsent // MAX_WRITE_PERIODS):
                self._reset_connection()
            elif left:
                self._watch_writes()

        self._start_timer("writing", self._bounds.write_seconds, look)

    def _start_timer(self, name: str, seconds: float, call: Callable[[], None]) -> None:
        """Call it after this time, unless that runs already."""
        if name not in self._timers:
            self._timers[name] = self.loop.call_later(seconds, call)

    def _cancel_timer(self, name: str) -> None:
        if (timer := self._timers.pop(name, None)) is not None:
            timer.cancel()


def _set_no_delay(wire: socket.socket) -> None:
    """Send what follows an answer's head without waiting for the client to confirm the head.

    The event loop does so by itself only for sockets that it made itself: uvicorn issue 3149.
    """
    if wire.family in {socket.AF_INET, socket.AF_INET6}:
        with suppress(OSError):  # it is closed already
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _problem_bytes(status: HTTPStatus, detail: str) -> bytes:
    """A whole answer, for whom no application was asked."""
    instance = secrets.token_hex(16)
    body = json.dumps(
        {
            "type": "urn:foveate:problem:headers",
            "title": status.phrase,
            "status": int(status),
            "detail": detail,
            "instance": instance,
        }
    ).encode()
    head = (
        f"HTTP/1.1 {int(status)} {status.phrase}\r\n"
        "content-type: application/problem+json\r\n"
        f"content-length: {len(body)}\r\n"
        f"x-request-id: {instance}\r\n"
        "x-content-type-options: nosniff\r\n"
        "cache-control: no-store\r\n"
        "connection: close\r\n\r\n"
    )
    return head.encode() + body
