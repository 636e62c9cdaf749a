"""Connections that are fed drop by drop, or spoken to in something that is not HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from foveate.service.settings import Settings
from hostile_requests import post
from http_wire import Answer, Wire, request
from service_server import serving

Address = tuple[str, int]


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    """A service that waits a fifth of a second."""
    settings = Settings(store="", header_seconds=0.2, body_bytes=40_000_000)
    with serving(settings) as client:
        yield client.base_url.host, client.base_url.port or 0


def assert_problem(answer: Answer | None, status: int) -> None:
    """As any other, with an id and the connection's end."""
    assert answer is not None
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["connection"] == "close"
    said = answer.json()
    assert said["status"] == status
    assert said["instance"] == answer.headers["x-request-id"]
    assert said["type"].startswith("urn:foveate:problem:")
    assert said["detail"]


@pytest.mark.parametrize(
    "data",
    [b"hello?\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n", post(b"{}", {"Content-Length": "-1"})],
)
def test_what_is_not_http_gets_a_problem(address: Address, data: bytes) -> None:
    """X1, X2: no plain words of the server's, and the connection ends."""
    with Wire(address) as wire:
        wire.send(data)

        assert_problem(wire.answer(), 400)
        assert wire.ends()


def test_what_is_not_http_behind_a_request(address: Address) -> None:
    """X2: the request is answered, what follows it refused."""
    with Wire(address) as wire:
        wire.send(request("GET", "/healthz") + b"\0\0\0\r\n\r\n")
        first = wire.answer()

        assert first is not None
        assert first.status == 200
        assert_problem(wire.answer(), 400)
        assert wire.ends()


def test_what_is_not_http_within_a_body(address: Address) -> None:
    """X2: a request that turns out to be none is refused while it is read."""
    chunked = {"Transfer-Encoding": "chunked", "Content-Length": None}
    with Wire(address) as wire:
        wire.send(post(b'5\r\n{"que\r\n', chunked))
        wire.send(b"no size\r\n")

        assert_problem(wire.answer(), 400)
        assert wire.ends()


def test_a_head_that_does_not_end_is_not_waited_for(address: Address) -> None:
    """X4: another byte now and then makes it no longer."""
    with Wire(address, patience=0.02) as wire:
        wire.send(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ")
        answer, byte = None, 0
        while answer is None:
            wire.send(b"a")
            byte += 1
            assert byte < 6_000
            with suppress(TimeoutError):
                answer = wire.answer()
                break

    assert answer is None


def test_the_rest_of_a_refused_body_is_not_waited_for(address: Address) -> None:
    """X4: what was answered before it was whole may not go on for ever."""
    with Wire(address, patience=0.02) as wire:
        wire.send(post(b"{", {"Content-Length": "50000000"}))
        answer = None
        for _ in range(6_000):
            with suppress(TimeoutError):
                answer = wire.answer()
                break
        ended = False
        for _ in range(6_000):
            wire.send(b"a" * 10)
            with suppress(TimeoutError):
                ended = wire.ends()
                break

    assert answer is not None
    assert answer.status == 413
    assert ended
