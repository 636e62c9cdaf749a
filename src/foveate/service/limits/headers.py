"""Requests whose headers are too many, too long, or say two things at once.

Two lengths, or a length and chunks, are how one request is smuggled behind another past a proxy;
two keys or two hosts are read one way here and another way elsewhere. So each stands alone or the
request is refused.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from foveate.service.limits.asgi import refuse, values
from foveate.service.problems import ProblemError

MOST = 100
ONCE = (b"host", b"authorization", b"content-length", b"content-type", b"content-encoding")


class Headers:
    """431 over `most` bytes or 100 headers; 400 where one that stands alone comes twice."""

    def __init__(self, app: ASGIApp, *, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at the headers, and at nothing else."""
        if scope["type"] != "http" or (problem := self._wrong(scope)) is None:
            await self._app(scope, receive, send)
        else:
            await refuse(scope, receive, send, problem)

    def _wrong(self, scope: Scope) -> ProblemError | None:
        found = scope["headers"]
        size = len(scope["raw_path"]) + len(scope["query_string"])
        size += sum(len(name) + len(value) for name, value in found)
        if size > self._most or len(found) > MOST:
            return ProblemError(
                431,
                "headers",
                f"headers and address together may be {self._most} bytes and {MOST} headers",
            )
        twice = next((name for name in ONCE if len(values(scope, name)) > 1), None)
        if twice is not None:
            return ProblemError(400, "headers", f"the header {twice.decode()} comes twice")
        if values(scope, b"transfer-encoding") and values(scope, b"content-length"):
            return ProblemError(400, "headers", "give a content-length or send in chunks, not both")
        return None
