"""HTTP spoken byte by byte, for what no client library would send."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import httpx

PATIENCE = 120.0
"""Seconds for any answer, on however busy a machine."""

Headers = dict[str, str | None]
"""None leaves a header out that would be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Status, headers with small names, and the whole body, put together."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)

    @property
    def problem(self) -> dict[str, Any]:
        """The problem that it is."""
        assert self.headers["content-type"] == "application/problem+json", self.body
        found: dict[str, Any] = self.json()
        assert found["status"] == self.status
        return found


class Wire:
    """A connection. `send` never fails: that the other side has closed shows in the answer."""

    def __init__(
        self,
        address: tuple[str, int],
        patience: float = PATIENCE,
        buffer: int | None = None,
        source: str = "",
    ) -> None:
        self.address = address
        self._socket = socket.socket()
        if source:
            self._socket.bind((source, 0))
        if buffer is not None:  # bytes that the other side can send though nobody reads, and some
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self._socket.settimeout(patience)
        try:
            self._socket.connect(address)
        except OSError:
            self._socket.close()
            raise
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._got = b""

    def send(self, *parts: bytes) -> Self:
        """Some bytes, as they are."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(b"".join(parts))
        return self

    def answer(self) -> Answer | None:
        """The next answer; None where the connection ended without a whole one."""
        try:
            while True:
                head = self._until(b"\r\n\r\n")
                status, headers = _head(head)
                if status != 100:
                    break
            body = b"" if status in (204, 304) else self._body(headers)
        except (EOFError, ConnectionError):
            return None
        return Answer(status=status, headers=headers, body=body)

    def status(self) -> int:
        """That of the next answer, 100 too, as soon as its headers are there; its body is next."""
        return _head(self._until(b"\r\n\r\n"))[0]

    def ended(self) -> bool:
        """Wait for the other side to close, whatever it still sends."""
        with suppress(EOFError, ConnectionError):
            while True:
                self._got = b""
                self._more()
        return True

    def ends(self) -> bool:
        """Whether nothing more comes and the other side has closed; waits for it."""
        try:
            self._got += self._socket.recv(65_536)
        except ConnectionError:
            return True
        return not self._got

    def broken_off(self) -> bool:
        """Whether the other side gives up on us, who read nothing; waits for it."""
        poll = select.poll()
        poll.register(self._socket, 0)
        return bool(poll.poll(PATIENCE * 1_000))

    def close(self) -> None:
        """The usual end."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._got:
            self._more()
        found, _, self._got = self._got.partition(mark)
        return found

    def _exactly(self, length: int) -> bytes:
        while len(self._got) < length:
            self._more()
        found, self._got = self._got[:length], self._got[length:]
        return found

    def _more(self) -> None:
        data = self._socket.recv(1 << 20)
        if not data:
            raise EOFError
        self._got += data

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") == "chunked":
            return b"".join(self._chunks())
        if "content-length" in headers:
            return self._exactly(int(headers["content-length"]))
        while data := self._socket.recv(1 << 20):
            self._got += data
        return self._got

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self._until(b"\r\n").split(b";")[0], 16):
            yield self._exactly(size)
            self._exactly(2)
        self._exactly(2)


def _head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return int(first.split(" ", 2)[1]), {name.lower(): value.strip() for name, _, value in pairs}


def wire(client: httpx.Client, **options: Any) -> Wire:
    """A connection of its own to where this client asks."""
    return Wire((client.base_url.host, client.base_url.port or 80), **options)


def head(line: str, *headers: str) -> bytes:
    """The head of a request with exactly these: `head("POST /v1/recipes", "Content-Length: 5")`."""
    return "\r\n".join([f"{line} HTTP/1.1", "Host: 127.0.0.1", *headers, "", ""]).encode("latin-1")


def request(
    method: str, path: str, body: bytes | None = None, headers: Headers | None = None
) -> bytes:
    """The bytes of a request; what stands in `headers` replaces what would be written."""
    found: Headers = {"Host": "127.0.0.1", "Connection": "keep-alive"}
    if body is not None:
        found |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    found |= headers or {}
    lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in found.items() if v is not None)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


def ask(
    address: tuple[str, int],
    method: str,
    path: str,
    value: object = None,
    headers: Headers | None = None,
) -> Answer:
    """One request with a JSON value on a connection of its own."""
    body = None if value is None else json.dumps(value).encode()
    with Wire(address) as wire:
        wire.send(request(method, path, body, headers))
        answer = wire.answer()
    assert answer is not None, f"{method} {path}: the connection ended"
    return answer
