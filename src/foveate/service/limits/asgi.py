"""What the layers share: reading a request's headers, and answering with a problem."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.service.problems import problem_response
from foveate.service.wire.errors import ProblemError

HEALTH_PATHS = frozenset({"/healthz", "/readyz"})
"""Polled all the time, under any host name; they reveal nothing."""

PLAYGROUND_PATH = "/playground"
"""Public files; the page sends its requests with a key. `/` redirects there."""


class Layer:
    """An ASGI layer: HTTP requests go to `handle`, everything else passes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http":
            await self.handle(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, unless `find_problem` has a reason to refuse it."""
        problem = self.find_problem(scope)
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await send_problem(scope, receive, send, problem)

    def find_problem(self, scope: Scope) -> ProblemError | None:
        """Why the request is refused; None if it is not."""


def is_public(path: str) -> bool:
    """Whether a path needs no key. All others do, including those that do not exist."""
    return path in {*HEALTH_PATHS, "/", PLAYGROUND_PATH} or path.startswith(f"{PLAYGROUND_PATH}/")


async def send_problem(scope: Scope, receive: Receive, send: Send, problem: ProblemError) -> None:
    """Answer with the problem."""
    await problem_response(Request(scope), problem)(scope, receive, send)
