"""Requests that nobody should send, as bytes; what a service may say to each is beside it.

Each is a name, the bytes, and the statuses that are an answer to it. `0` stands for a connection
that is closed without one, which is all that some of them deserve.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from http_wire import request

ASSEMBLE = "/v1/assemble"
GOOD: dict[str, Any] = {
    "query": "what pressure has the boiler",
    "candidates": [
        {"id": "c1", "source": "boiler.md", "score": 0.9, "text": "The boiler has two bar."},
        {"id": "c2", "source": "pump.md", "score": 0.5, "text": "The pump starts at one bar."},
    ],
    "budget": 300,
}
REFUSED = (400, 422)
CLOSED = 0


@dataclass(frozen=True, slots=True)
class Case:
    """What is sent, and the statuses that are right; `half`: nothing follows, and it is said."""

    name: str
    data: bytes
    right: tuple[int, ...]
    half: bool = False


def post(body: bytes, headers: dict[str, str | None] | None = None, path: str = ASSEMBLE) -> bytes:
    """A POST of these bytes."""
    return request("POST", path, body, headers)


def changed(**fields: Any) -> bytes:
    """The good request with other fields."""
    return json.dumps({**GOOD, **fields}).encode()


def malformed() -> Iterator[Case]:
    """What is no JSON, or none that is an object."""
    good = json.dumps(GOOD)
    texts: dict[str, bytes] = {
        "nothing": b"",
        "white space": b" \n ",
        "an open brace": b"{",
        "half of it": good[: len(good) // 2].encode(),
        "a comma too many": b'{"query": "a",}',
        "something behind it": good.encode() + b"{}",
        "single quotes": b"{'query': 'a'}",
        "a list": b"[]",
        "a string": b'"query"',
        "a number": b"7",
        "null": b"null",
        "NaN": b'{"query": "a", "candidates": [{"text": "a", "score": NaN}]}',
        "infinity": b'{"query": "a", "candidates": [{"text": "a", "score": -Infinity}]}',
        "a number beyond floats": b'{"query": "a", "candidates": [{"text": "a", "score": 1e999}]}',
        "a number of 5,000 digits": b'{"query": "a", "candidates": [], "budget": '
        + b"9" * 5000
        + b"}",
        "another name twice": b'{"query": "a", "query": ["b"], "candidates": [{"text": "a"}]}',
        "UTF-16": good.encode("utf-16"),
        "UTF-32": good.encode("utf-32-be"),
        "Latin-1": '{"query": "é", "candidates": [{"text": "a"}]}'.encode("latin-1"),
        "half a character": b'{"query": "\xe2\x82", "candidates": [{"text": "a"}]}',
        "half of a surrogate pair": b'{"query": "\\ud800", "candidates": [{"text": "a"}]}',
        "a surrogate in a text": b'{"query": "a", "candidates": [{"text": "\\udfff"}]}',
        "a surrogate as UTF-8": b'{"query": "a", "candidates": [{"text": "\xed\xa0\x80"}]}',
        "a raw line break in a string": b'{"query": "a\nb", "candidates": [{"text": "a"}]}',
        "lists in lists": b"[" * 200_000,
        "objects in objects": b'{"a":' * 100_000,
        "closed lists in lists": b"[" * 50_000 + b"]" * 50_000,
    }
    for name, body in texts.items():
        yield Case(name, post(body), REFUSED)
    deep = b'{"query": "a", "candidates": [{"text": "a", "metadata": {"a": %s}}]}'
    for depth in (200, 5_000, 100_000):
        value = b"[" * depth + b"]" * depth
        yield Case(f"metadata {depth} deep", post(deep % value), REFUSED)


WRONG: tuple[Any, ...] = (
    *(None, True, -1, 1.5, 10**30, "x", "", "\0", [], ["x"], [[]], [None], {}),
    *({"a": 1}, {"": None}, [{"text": 1}], "../../etc/passwd", "http://127.0.0.1:1/x"),
)
"""One of every kind; most are wrong anywhere, and nothing may break by any."""


def mistyped(fields: Iterator[str]) -> Iterator[Case]:
    """Each field with each wrong value; some are right by chance."""
    for field in fields:
        for value in WRONG:
            yield Case(f"{field}={value!r:.30}", post(changed(**{field: value})), (200, *REFUSED))


def misframed() -> Iterator[Case]:
    """Lengths that are wrong, heads that are none."""
    good = json.dumps(GOOD).encode()
    for length in ("-1", "+5", "0x10", "1e3", "", "9" * 30, "5, 6", "²"):
        yield Case(
            f"length {length:.8}", post(good, {"Content-Length": length}), (400, 413, CLOSED)
        )
    too_long = {"Content-Length": str(len(good) + 10)}
    yield Case("fewer bytes than it says", post(good, too_long), (400, 408, CLOSED), half=True)
    both = {"Transfer-Encoding": "chunked"}
    yield Case("a length and chunks", post(b"0\r\n\r\n", both), (400, 415, 422, CLOSED))
    chunked: dict[str, str | None] = {"Transfer-Encoding": "chunked", "Content-Length": None}
    yield Case("a chunk of no size", post(b"zz\r\nabc\r\n0\r\n\r\n", chunked), (400, CLOSED))
    yield Case("a negative chunk", post(b"-5\r\nabc\r\n0\r\n\r\n", chunked), (400, CLOSED))
    yield Case("a chunk cut off", post(b"ff\r\nabc", chunked), (400, 408, CLOSED), half=True)
    yield Case("an unknown transfer", post(good, {"Transfer-Encoding": "gzip"}), (400, 501, CLOSED))
    heads: dict[str, bytes] = {
        "no HTTP": b"hello, is anybody there?\r\n\r\n",
        "TLS": bytes.fromhex("1603010200010001fc0303") + b"\0" * 300 + b"\r\n\r\n",
        "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "HTTP/9.9": b"GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n",
        "zeros": b"\0" * 500 + b"\r\n\r\n",
        "a header without a colon": b"GET /healthz HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n",
        "a folded header": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nA: b\r\n c\r\n\r\n",
        "two hosts": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: b\r\n\r\n",
        "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
        "a header of 1 MB": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nA: " + b"a" * 1_000_000,
        "a line of 1 MB": b"GET /" + b"a" * 1_000_000,
        "50,000 headers": b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"A: b\r\n" * 50_000,
    }
    for name, head in heads.items():
        yield Case(name, head, (200, 400, 421, 431, CLOSED), half=True)


def misplaced() -> Iterator[Case]:
    """Paths and methods that lead nowhere."""
    for path in (
        *("/etc/passwd", "/../etc/passwd", "/playground/../../etc/passwd", "//healthz", "*", "/%"),
        *(
            "/playground/%2e%2e/%2e%2e/app.py",
            "/playground/..%2f..%2fapp.py",
            "/v1",
            "/%00",
            "/%ff",
        ),
        *("/v1/assemble/", "/v1/recipes/../../x", "/v1/recipes/%2e%2e%2fx", "/" + "a/" * 5_000),
        *(
            "http://other.example/healthz2",
            "/v1/recipes/" + "a" * 5_000,
            "/static/../x",
            "/docs%5cx",
        ),
    ):
        name = f"path {path:.30}"
        yield Case(name, request("GET", path), (307, 308, 400, 404, 405, 414, 421, 431, CLOSED))
    for method in ("TRACE", "CONNECT", "PATCH", "BREW", "GET" * 50):
        yield Case(f"method {method:.8}", request(method, ASSEMBLE), (400, 405, 501, CLOSED))
    for value in ("a" * 5_000, "\x01\x02", "é", "<script>", "a\tb", ""):
        headers: dict[str, str | None] = {"X-Request-Id": value}
        yield Case(
            f"id {value!r:.10}", request("GET", "/healthz", None, headers), (200, 400, CLOSED)
        )
    upgrade: dict[str, str | None] = {"Connection": "Upgrade", "Upgrade": "websocket"}
    yield Case("an upgrade", request("GET", "/healthz", None, upgrade), (200, 400, 426, CLOSED))
