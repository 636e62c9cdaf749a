"""Time limits for idle connections: those that send no request, and those that read no response.

The server itself waits for both without end. If all connections are taken, the one that was idle
longest is closed, so a client that opens many displaces only idle ones.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from foveate.service.limits.asgi import RESPONSE_SENT
from foveate.service.settings import Settings

SETTINGS_KEY = "foveate.settings"
"""Where the application's lifespan puts the settings, for connections to find."""

MIN_BYTES_READ = 16_384
"""Bytes that a client must take in `write_seconds`, where so many wait for it."""
MAX_FRAMING = 8
"""Times the largest body that a request may take on the wire: chunks have lengths, and more."""
MAX_WRITE_PERIODS = 20
"""Times `write_seconds` in which it must have taken all that waits, however much that is: else
an answer of megabytes would hold its place, and its memory, for hours."""


class Connection(H11Protocol):
    """The server's connection with the time limits of the settings."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._settings: Settings = self.app_state[SETTINGS_KEY]
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.idle_since = self.loop.time()
        self._most_unsent = 0
        self._received = 0

    def data_received(self, data: bytes) -> None:
        """Take bytes, unless a request's take far more than its body may hold."""
        self._received += len(data)
        if self._received > MAX_FRAMING * self._settings.body_bytes + self._settings.header_bytes:
            self.drop()  # chunk extensions, which no answer of ours could end
            return
        super().data_received(data)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a client; if there are too many, close the one idle longest."""
        super().connection_made(transport)
        _set_no_delay(transport.get_extra_info("socket"))
        if len(self.connections) > self._settings.connections:
            ours = [c for c in self.connections if isinstance(c, Connection) and c.is_closable]
            idle = [c for c in ours if not c.transport.is_closing()]
            min(idle, key=lambda c: c.idle_since, default=self).drop()
        self._start_timer("headers", self._settings.header_seconds, self.drop)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers."""
        for name in list(self._timers):
            self._cancel_timer(name)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle new bytes, and time headers that are incomplete."""
        super().handle_events()
        if not self.is_idle:
            self._cancel_timer("headers")
        elif self.conn.trailing_data[0]:
            self._start_timer("headers", self._settings.header_seconds, self.drop)

    def on_response_complete(self) -> None:
        """Note since when the connection is idle."""
        self.idle_since = self.loop.time()
        self._received = 0
        super().on_response_complete()
        if self.transport.is_closing():
            self._watch_writes()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, with a time limit for unread data."""
        super().timeout_keep_alive_handler()
        self._watch_writes()

    def pause_writing(self) -> None:
        """Start a time limit: the client does not read."""
        super().pause_writing()
        self._watch_writes()

    def resume_writing(self) -> None:
        """End the time limit: the client reads again."""
        super().resume_writing()
        self._cancel_timer("writing")
        self._most_unsent = 0

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, or has endless headers, with a problem."""
        if self.cycle is not None and self.cycle.response_started and not self.is_idle:
            self.drop()
            return
        long = len(self.conn.trailing_data[0]) >= self._settings.header_bytes
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
        """Whether it may be closed for another: it is idle, or its response is sent."""
        return self.is_idle or RESPONSE_SENT in (self.scope or {}).get("state", {})

    def drop(self) -> None:
        """Close it now, with unsent data."""
        self.transport.abort()

    def _reset_connection(self) -> None:
        """Abort, and drop the system's send buffer too, which would remain for minutes."""
        wire = self.transport.get_extra_info("socket")
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.drop()

    def _watch_writes(self) -> None:
        """From now on, the client must read some of the response in each period."""
        unsent = self.transport.get_write_buffer_size()
        self._most_unsent = max(self._most_unsent, unsent)

        def look() -> None:
            del self._timers["writing"]
            left = self.transport.get_write_buffer_size()
            if left and left > unsent - max(MIN_BYTES_READ, self._most_unsent // MAX_WRITE_PERIODS):
                self._reset_connection()
            elif left:
                self._watch_writes()

        self._start_timer("writing", self._settings.write_seconds, look)

    def _start_timer(self, name: str, seconds: float, call: Callable[[], None]) -> None:
        """Start the timer, unless it runs already."""
        if name not in self._timers:
            self._timers[name] = self.loop.call_later(seconds, call)

    def _cancel_timer(self, name: str) -> None:
        if (timer := self._timers.pop(name, None)) is not None:
            timer.cancel()


def _set_no_delay(wire: socket.socket) -> None:
    """Send data after the head of a response without waiting for its confirmation.

    The event loop does so only for sockets that it made itself.
    """
    if wire.family in {socket.AF_INET, socket.AF_INET6}:
        with suppress(OSError):  # it is closed already
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _problem_bytes(status: HTTPStatus, detail: str) -> bytes:
    """A whole response, for a request that did not reach the application."""
    instance = secrets.token_hex(16)
    problem: dict[str, Any] = {"type": "urn:foveate:problem:headers", "title": status.phrase}
    problem |= {"status": int(status), "detail": detail, "instance": instance}
    body = json.dumps(problem).encode()
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
