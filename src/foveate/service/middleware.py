"""Request ids, and HEAD requests."""

from __future__ import annotations

import re
import secrets

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from foveate.service.auth.keys import KEY_PREFIX_PATTERN
from foveate.service.limits.asgi import Layer
from foveate.service.problems import problem_response
from foveate.service.worker_pool import ClientDisconnect

HEADER = "x-request-id"
_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Head(Layer):
    """Answers HEAD as GET, without the body. It is outside of compression, so that sizes agree."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a HEAD request be handled as GET."""
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        inner = {**scope, "method": "GET"}

        async def send_without_body(message: Message) -> None:
            if "route" in inner:
                scope["route"] = inner["route"]  # for the audit
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app(inner, receive, send_without_body)


class RequestIds(Layer):
    """Gives each request an id, the caller's own if it is valid, and puts it on the response.

    As the outermost layer of the application, it also turns errors into problems, with the id.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Put the id into `scope["state"]["request_id"]`."""
        given = Headers(scope=scope).get(HEADER, "")
        is_valid = _VALID.fullmatch(given) and not KEY_PREFIX_PATTERN.search(given.encode())
        request_id = given if is_valid else secrets.token_hex(16)
        scope.setdefault("state", {})["request_id"] = request_id
        begun = False

        async def send_with_id(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                headers[HEADER] = request_id
                if scope["app"].state.app_state.draining:
                    headers["connection"] = "close"
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except ClientDisconnect:
            return
        except Exception as error:
            if begun:
                raise
            await problem_response(Request(scope, receive), error)(scope, receive, send_with_id)
