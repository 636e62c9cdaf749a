"""What the layers share: looking at a request's headers, and answering with a problem."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from foveate.service.problems import ProblemError, problem_response

HEALTH_PATHS = frozenset({"/healthz", "/readyz"})
"""Asked all the time, by whoever runs the service, under any name; they tell nothing."""

PLAYGROUND_PATH = "/playground"
"""Files that tell nothing; what the page asks for is asked with a key. `/` leads there."""

RESPONSE_SENT = "foveate.answered"
"""In a request's state: its answer is out, and what it still sends is thrown away."""


def is_public(path: str) -> bool:
    """Whether an address needs no key. All others do, those that do not exist included."""
    return (
        path in HEALTH_PATHS
        or path in ("/", PLAYGROUND_PATH)
        or path.startswith(f"{PLAYGROUND_PATH}/")
    )


def header_value(scope: Scope, name: bytes) -> bytes | None:
    """The header's value; where it comes several times the first, which the server refuses."""
    return next((value for key, value in scope["headers"] if key == name), None)


def header_values(scope: Scope, name: bytes) -> list[bytes]:
    """All of them."""
    return [value for key, value in scope["headers"] if key == name]


def without_headers(scope: Scope, names: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """The headers but for these."""
    gone = frozenset(names)
    return [(key, value) for key, value in scope["headers"] if key not in gone]


def has_body(scope: Scope) -> bool:
    """Whether a body comes with the request, as its headers say."""
    if header_value(scope, b"transfer-encoding") is not None:
        return True
    return header_value(scope, b"content-length") not in {None, b"0"}


async def send_problem(scope: Scope, receive: Receive, send: Send, problem: ProblemError) -> None:
    """Answer with the problem instead of asking anybody further in."""
    response = problem_response(Request(scope), problem)
    await response(scope, receive, send)
