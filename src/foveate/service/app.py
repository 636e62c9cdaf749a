"""Puts the service together, with request ids and HEAD requests; other parts are in their rooms."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache, partial

from fastapi import FastAPI, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Message, Receive, Scope, Send

from foveate._version import __version__
from foveate.service import problems
from foveate.service.app_state import AppState
from foveate.service.auth.keys import KEY_PREFIX_PATTERN
from foveate.service.guard import install_layers, open_key_ring
from foveate.service.limits.asgi import Layer
from foveate.service.mcp import http as mcp
from foveate.service.observe.telemetry import Telemetry, TelemetryMiddleware
from foveate.service.openapi import build_openapi
from foveate.service.playground.routes import router as playground
from foveate.service.problems import problem_response
from foveate.service.routes import ask, assemble, compact, documents, names, replay, uploads
from foveate.service.settings import Settings
from foveate.service.start import warm_up
from foveate.service.worker_pool import ClientDisconnect

ROUTERS = (
    assemble.router,
    compact.router,
    ask.router,
    replay.router,
    documents.router,
    uploads.router,
    names.router,
    names.health_router,
    mcp.router,
    playground,
)
GZIP_MIN_BYTES = 1_024
"""Bytes of an answer below which packing it is not worth the while."""
HEADER = "x-request-id"
_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def create_app(settings: Settings) -> FastAPI:
    """The application; its state is closed at the end of its lifespan."""
    app = FastAPI(
        title="foveate",
        version=__version__,
        summary="Context assembly for RAG: what you retrieve is not what the model reads.",
        lifespan=_lifespan,
        docs_url=None,  # those pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        separate_input_output_schemas=False,
    )
    app.state.settings = settings
    app.state.app_state = AppState(settings)
    app.state.key_ring = open_key_ring(settings)
    app.state.telemetry = Telemetry(settings, app.state.app_state.request_options.recipes)
    routes = [route for router in ROUTERS for route in router.routes]
    problems.install_error_handlers(app, [*routes, *app.routes])
    for router in ROUTERS:
        app.include_router(router)
    # The last one added is the outermost.
    app.add_middleware(GZipMiddleware, minimum_size=GZIP_MIN_BYTES, compresslevel=5)
    app.add_middleware(Head)
    install_layers(app, settings, app.state.key_ring)
    app.add_middleware(RequestIds)
    app.add_middleware(TelemetryMiddleware, observed=app.state.telemetry)
    app.openapi = lru_cache(maxsize=1)(partial(build_openapi, app))  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    state: AppState = app.state.app_state
    try:
        async with (
            mcp.mcp_lifespan(app, state),
            app.state.telemetry.lifespan(state),
        ):
            await asyncio.to_thread(warm_up, state)
            yield
    finally:
        await state.close()


class Head(Layer):
    """Answers HEAD as GET, without the body. It is outside of compression, so that sizes agree."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a HEAD request be handled as GET."""
        if scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        inner = {**scope, "method": "GET"}

        async def send_without_body(message: Message) -> None:
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
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except ClientDisconnect:
            return
        except Exception as error:
            if begun:
                raise
            await problem_response(Request(scope, receive), error)(scope, receive, send_with_id)
