"""Puts the service together. Wiring only: what each part does is in its own room."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware

from foveate._version import __version__
from foveate.service import problems
from foveate.service.guard import guard_of, install
from foveate.service.held import Held, serving
from foveate.service.mcp import http as mcp
from foveate.service.observe.observed import Observed
from foveate.service.observe.requests import Watched
from foveate.service.playground.routes import router as playground
from foveate.service.requestid import RequestIds
from foveate.service.routes import (
    ask,
    assemble,
    documents,
    health,
    metrics,
    recipes,
    replay,
    search,
)
from foveate.service.settings import Settings

ROUTERS = (
    assemble.router,
    search.router,
    ask.router,
    replay.router,
    documents.router,
    recipes.router,
    health.router,
    mcp.router,
    playground,
    metrics.router,
)
SMALL = 1_024
"""Bytes of an answer below which packing it is not worth the while."""


def create_app(settings: Settings) -> FastAPI:
    """The application; what it holds (`app.state.held`) is closed when it has served."""
    app = FastAPI(
        title="foveate",
        version=__version__,
        summary="Context assembly for RAG: what you retrieve is not what the model reads.",
        lifespan=_lifespan,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        separate_input_output_schemas=False,
    )
    app.state.settings = settings
    app.state.held = Held(settings)
    app.state.guard = guard_of(settings)
    app.state.observed = Observed(settings, app.state.held.door.recipes)
    app.state.guard.rates.told = app.state.observed.metrics.rate_misses.inc
    problems.install(app, [route for router in ROUTERS for route in router.routes])
    for router in ROUTERS:
        app.include_router(router)
    # The last one added is the outermost.
    app.add_middleware(GZipMiddleware, minimum_size=SMALL, compresslevel=5)
    install(app, app.state.guard, settings)
    app.add_middleware(RequestIds)
    app.add_middleware(Watched, observed=app.state.observed, routes=paths())
    app.openapi = lambda: described(app)  # type: ignore[method-assign]
    return app


def paths() -> list[str]:
    """The routes as they are written."""
    return [getattr(route, "path", "") for router in ROUTERS for route in router.routes]


def described(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI description, made once."""
    from foveate.service.openapi import openapi_of

    if app.openapi_schema is None:
        app.openapi_schema = openapi_of(app)
    return app.openapi_schema


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    async with (
        serving(app.state.held) as found,
        app.state.guard.watching() as told,
        mcp.speaking(app, found),
        app.state.observed.watching(found),
    ):
        yield told
