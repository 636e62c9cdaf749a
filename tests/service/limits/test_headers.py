"""Headers that are gigantic or ambiguous."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from foveate.service.settings import Settings
from http_wire import head, wire
from service_server import serving

LENGTH, CHUNKED = "Content-Length: 5", "Transfer-Encoding: chunked"


@pytest.fixture(scope="module")
def service() -> Iterator[httpx.Client]:
    """A service that takes four kilobytes of headers."""
    with serving(Settings(store="", header_bytes=4_096)) as client:
        yield client


@pytest.mark.parametrize(
    "sent",
    [
        head("GET /healthz", "X: " + "a" * 4_096),
        head("GET /healthz", *(f"X-{n}: {n}" for n in range(101))),
        head("GET /healthz?" + "a" * 4_096),
    ],
    ids=["long", "many", "address"],
)
def test_gigantic_headers_are_431(service, sent):
    """X2, X4: refused when there are too many of them."""
    with wire(service) as raw:
        answer = raw.send(sent).answer()

    assert answer.status == 431
    assert answer.problem["type"] == "urn:foveate:problem:headers"


@pytest.mark.parametrize(
    "sent",
    [
        head("GET /healthz", "X: " + "a" * 1_000_000),
        b"GET /healthz HTTP/1.1\r\n" + b"X: " + b"a" * 100_000,
        b"A" * 100_000,
    ],
    ids=["a megabyte", "no end", "no line"],
)
def test_headers_are_not_read_to_their_end(service, sent):
    """X2, X4: refused as soon as there are too many of them, whether or not they have an end."""
    with wire(service) as raw:
        answer = raw.send(sent).answer()
        ended = raw.ended()

    assert answer is None or answer.status == 400
    assert ended


@pytest.mark.parametrize(
    "headers",
    [
        (LENGTH, CHUNKED),
        (CHUNKED, LENGTH),
        (LENGTH, "Content-Length: 6"),
        ("Content-Length: 5, 6",),
        ("Content-Length: +5",),
        ("Content-Length: -5",),
        ("Content-Length: 0x5",),
        ("Content-Length: 1e3",),
        ("Content-Length: ²",),
        ("Content-Length:",),
        ("Content-Length: " + "9" * 30,),
        ("Transfer-Encoding: gzip, chunked",),
        ("Transfer-Encoding: chunked, chunked",),
        ("Transfer-Encoding: identity",),
        (CHUNKED, CHUNKED),
        ("Content-Type: a/b", "Content-Type: application/json"),
        ("Content-Encoding: gzip", "Content-Encoding: identity"),
        ("Host: other",),
        ("X : y",),
        ("X: a\x00b",),
    ],
)
def test_two_meanings_are_none(service, headers):
    """X4: what a proxy may read another way is refused, and the request behind it is not read."""
    with wire(service) as raw:
        raw.send(head("POST /v1/assemble", *headers), b"0\r\n\r\n", head("GET /readyz"))
        answer = raw.answer()
        ended = raw.ended()

    assert answer.status in {400, 501}
    assert ended


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost\r\n\r\n",
        b"hello?\r\n\r\n",
        bytes(500),
    ],
)
def test_what_is_no_request_is_refused(service, sent):
    """X1, X2: TLS, HTTP/2 and noise are refused and ended; the next connection is served."""
    with wire(service) as raw:
        answer = raw.send(sent + b"\r\n\r\n").answer()
        ended = raw.ended()

    assert 400 <= answer.status < 500
    assert ended
    assert service.get("/healthz").status_code == 200


def test_upgrades_are_not_made(service):
    """X4: neither web sockets nor anything else than HTTP."""
    with wire(service) as raw:
        upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
        answer = raw.send(head("GET /nowhere", *upgrade)).answer()

    assert answer.status == 404


def test_two_equal_lengths_count_as_one(service):
    """X4: RFC 9110 allows it, and no proxy can read them another way; the page says so."""
    with wire(service) as raw:
        answer = raw.send(head("POST /v1/assemble", LENGTH, LENGTH), b'{"a"}').answer()

    assert answer.status == 415
    assert answer.problem["detail"] == "send application/json"
