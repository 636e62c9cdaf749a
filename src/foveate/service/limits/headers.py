"""Requests whose headers are too many, too long, or say two things at once.

Two lengths, or a length and chunks, are how one request is smuggled behind another past a proxy;
two keys or two hosts are read one way here and another way elsewhere. So each stands alone or the
request is refused.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.service.limits.asgi import header_values, send_problem
from foveate.service.problems import ProblemError

MAX_HEADERS = 100
SINGLE_HEADERS = (
    b"host",
    b"authorization",
    b"content-length",
    b"content-type",
    b"content-encoding",
)


class HeaderLimit:
    """431 over `most` bytes or 100 headers; 400 where one that stands alone comes twice."""

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at the headers, and at nothing else."""
        if scope["type"] != "http" or (problem := self._find_problem(scope)) is None:
            await self._app(scope, receive, send)
        else:
            await send_problem(scope, receive, send, problem)

    def _find_problem(self, scope: Scope) -> ProblemError | None:
        found = scope["headers"]
        size = len(scope["raw_path"]) + len(scope["query_string"])
        size += sum(len(name) + len(value) for name, value in found)
        if size > self._most or len(found) > MAX_HEADERS:
            return ProblemError(
                431,
                "headers",
                f"headers and address together may be {self._most} bytes and {MAX_HEADERS} headers",
            )
        twice = next((name for name in SINGLE_HEADERS if len(header_values(scope, name)) > 1), None)
        if twice is not None:
            return ProblemError(400, "headers", f"the header {twice.decode()} comes twice")
        if header_values(scope, b"transfer-encoding") and header_values(scope, b"content-length"):
            return ProblemError(400, "headers", "give a content-length or send in chunks, not both")
        return None
