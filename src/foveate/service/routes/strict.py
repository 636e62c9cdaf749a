"""How every route reads its request: bounded and strict."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from foveate.service.auth.caller import RequireScope
from foveate.service.wire.body import StrictRequest


class StrictRoute(APIRoute):
    """A route whose bodies are read by `wire/body.py`, once the caller may send one."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The framework's handler, given the strict request."""
        handler = super().get_route_handler()
        needed = [d.call for d in self.dependant.dependencies if isinstance(d.call, RequireScope)]

        async def strict(request: Request) -> Response:
            for need in needed:  # before the body is read: it is nobody's who may not send it
                await need(request)
            return await handler(StrictRequest(request.scope, request.receive))

        return strict
