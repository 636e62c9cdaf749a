"""Every request has an id: the caller's own where it is one, else a new one. Never left out.

The outermost layer of the application: whatever is raised inside and is not a problem yet becomes
one here, so that also those carry the id.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders

from foveate.service.auth.keys import KEY_PREFIX_PATTERN
from foveate.service.problems import problem_response
from foveate.service.worker_pool import ClientDisconnect

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "x-request-id"
_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class RequestIds:
    """ASGI: `scope["state"]["request_id"]`, and the header on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give the request its id."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        fine = _VALID.fullmatch(given) and not KEY_PREFIX_PATTERN.search(given.encode())
        own = given if fine else secrets.token_hex(16)
        scope.setdefault("state", {})["request_id"] = own
        begun = False

        async def named(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                MutableHeaders(raw=message.setdefault("headers", []))[HEADER] = own
            await send(message)

        try:
            await self._app(scope, receive, named)
        except ClientDisconnect:
            return  # nobody reads an answer, and it is no fault
        except Exception as error:
            if begun:
                raise
            await problem_response(Request(scope, receive), error)(scope, receive, named)


def request_id(request: Any) -> str:
    """The request's id."""
    found: str = request.scope["state"]["request_id"]
    return found
