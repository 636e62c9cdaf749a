"""A connection on which one says exactly what one likes, for requests that no client would send."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from io import BufferedReader
from socket import SocketIO
from typing import Any

import httpx


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def problem(self) -> dict[str, Any]:
        """The problem that it is."""
        assert self.headers["content-type"] == "application/problem+json", self.body
        found: dict[str, Any] = json.loads(self.body)
        assert found["status"] == self.status
        return found


class _Kept(BufferedReader):
    """What was read ahead belongs to the next answer, so it stays open."""

    def close(self) -> None:
        """Not before the connection ends."""


class Wire:
    """One connection; `patience` is how long it waits for the other side before it fails."""

    def __init__(self, client: httpx.Client, *, patience: float = 60, room: int = 0) -> None:
        self.socket = socket.socket()
        if room:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.settimeout(patience)
        self.socket.connect(("127.0.0.1", client.base_url.port))
        self._ahead = _Kept(SocketIO(self.socket, "rb"))

    def makefile(self, mode: str) -> BufferedReader:
        """Where answers are read from."""
        return self._ahead

    def say(self, *parts: bytes) -> Wire:
        """Send it as it is."""
        self.socket.sendall(b"".join(parts))
        return self

    def answer(self) -> Answer:
        """The next answer, whole."""
        with HTTPResponse(self) as response:  # type: ignore[arg-type]
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(status=response.status, headers=headers, body=response.read())

    def line(self) -> bytes:
        """The next line of what comes, and the empty one behind it."""
        line = self._ahead.readline()
        assert self._ahead.readline() == b"\r\n"
        return line

    def answer_begun(self) -> int:
        """The status of the next answer, as soon as it is there."""
        return int(self._ahead.readline().split(b" ")[1])

    def dropped(self) -> bool:
        """Wait for the other side to cut the line, without reading what it sent."""
        watch = select.poll()
        watch.register(self.socket, 0)
        return bool(watch.poll(60_000))

    def ended(self) -> bool:
        """Wait for the other side to hang up, whatever it still sends."""
        try:
            while self._ahead.read1():
                pass
        except ConnectionError:
            pass
        return True


@contextmanager
def wire(client: httpx.Client, **options: Any) -> Iterator[Wire]:
    """A connection as long as the block lasts."""
    opened = Wire(client, **options)
    try:
        yield opened
    finally:
        opened.socket.close()


def head(line: str, *headers: str) -> bytes:
    """The head of a request to this machine: `head("POST /v1/assemble", "Content-Length: 5")`."""
    lines = [f"{line} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")
