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
    """What is sent, and the statuses that are right."""

    name: str
    data: bytes
    right: tuple[int, ...]


def post(body: bytes, headers: dict[str, str | None] | None = None, path: str = ASSEMBLE) -> bytes:
    """A POST of these bytes."""
    return request("POST", path, body, headers)


def changed(**fields: Any) -> bytes:
    """The good request with other fields."""
    return json.dumps({**GOOD, **fields}).encode()


def malformed() -> Iterator[Case]:
    """What is no JSON, or none that is an object, of each kind."""
    texts: dict[str, bytes] = {
        "nothing": b"",
        "half of it": changed()[:40],
        "something behind it": changed() + b"{}",
        "a list": b"[]",
        "null": b"null",
        "NaN": b'{"query": "a", "candidates": [{"text": "a", "score": NaN}]}',
        "a number beyond floats": b'{"query": "a", "candidates": [{"text": "a", "score": 1e999}]}',
        "a name twice": b'{"query": "a", "query": ["b"], "candidates": [{"text": "a"}]}',
        "UTF-16": changed().decode().encode("utf-16"),
        "a surrogate in a text": b'{"query": "a", "candidates": [{"text": "\\udfff"}]}',
        "closed lists in lists": b"[" * 50_000 + b"]" * 50_000,
    }
    for name, body in texts.items():
        yield Case(name, post(body), REFUSED)
    deep = b'{"query": "a", "candidates": [{"text": "a", "metadata": {"a": %s}}]}'
    yield Case("deep metadata", post(deep % (b"[" * 5_000 + b"]" * 5_000)), REFUSED)


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
