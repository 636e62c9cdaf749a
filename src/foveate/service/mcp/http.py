"""The tools for the callers of the service, over streamable HTTP at `/mcp`.

Rules: every request brings its key and is answered by itself, so that any process or replica can
take it: no session, no state, and no stream that stays open (a GET is refused). The scope `mcp`
opens the door, and each tool wants its own besides. The work goes where all work of the service
goes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, FastAPI, Request, Response

from foveate.ports import Embedder, Store
from foveate.service.app_state import AppState
from foveate.service.audit import add_audit_fields
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.mcp.bounds import ToolLimits
from foveate.service.mcp.calls import ToolContext
from foveate.service.mcp.failures import ToolCallError
from foveate.service.mcp.results import ToolResult
from foveate.service.mcp.server import Authentication, RunCall, ToolCall, build_server
from foveate.service.mcp.tools import build_tools
from foveate.service.problems import ProblemError

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Message, Receive, Scope, Send

router = APIRouter(tags=["tools for agents"])


class ProtocolResponse(Response):
    """A request handed on to the protocol's own application, which answers it."""

    def __init__(self, protocol: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self._protocol = protocol

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it answer."""
        await self._protocol.handle_request(scope, receive, send)


@router.post("/mcp", include_in_schema=False)
async def mcp(request: Request, _: Annotated[Caller, require_scope("mcp")]) -> Response:
    """The Model Context Protocol; docs/mcp.md says how to get at it."""
    protocol = request.app.state.mcp
    if protocol is None:
        raise ProblemError(404, "not-found", "this service has no tools for agents")
    return ProtocolResponse(protocol)


@asynccontextmanager
async def mcp_lifespan(app: FastAPI, held: AppState) -> AsyncIterator[None]:
    """The tools while the service runs; none where its settings, or what is installed, say so."""
    app.state.mcp = None
    if not held.settings.mcp or find_spec("mcp") is None:
        yield
        return
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    protocol = StreamableHTTPSessionManager(
        build_server(_authentication(held), _pool_runner(held)),
        stateless=True,
        max_request_body_size=held.settings.body_bytes,
    )
    async with protocol.run():
        app.state.mcp = protocol
        yield


def _authentication(held: AppState) -> Authentication:
    """Who asks stands on the request, where its key was read."""
    settings, door = held.settings, held.request_options
    bounds = ToolLimits(
        budget=settings.mcp_most,
        usual_budget=settings.mcp_budget,
        candidates=min(settings.candidates, ToolLimits().candidates),
    )
    every = build_tools(bounds, door.recipes, door.formats, recipe=settings.recipe)

    def receive(request: Request) -> ToolCall:
        caller: Caller = request.scope["state"]["caller"]
        desk = ToolContext(
            open_store=lambda: _open_tenant_store(held, caller.tenant),
            options=door.options,
            principals=caller.principals,
            cache=held.cache_for_tenant(caller.tenant),
            observers=held.observers,
            limits=bounds,
        )
        return ToolCall(
            context=desk,
            tools=tuple(tool for tool in every if tool.scope in caller.scopes),
            record=lambda answer: _audit_result(request, answer),
        )

    return receive


def _audit_result(request: Request, answer: ToolResult) -> None:
    manifests = (answer.manifest,) if answer.manifest is not None else ()
    add_audit_fields(request.scope, *manifests, state_root=answer.state_root or None)


@contextmanager
def _open_tenant_store(held: AppState, tenant: str) -> Iterator[tuple[Store, Embedder | None]]:
    with held.stores.borrow(tenant) as shelf:
        yield shelf.store, shelf.embedder


def _pool_runner(held: AppState) -> RunCall:
    """On the service's threads. A client that leaves is noticed by the protocol, not here."""

    async def run(work: Callable[[], ToolResult]) -> ToolResult:
        try:
            return await held.pool.run(Request({"type": "http"}, _wait_forever), work, stops=True)
        except ProblemError as error:
            raise ToolCallError(str(error.detail)) from error

    return run


async def _wait_forever() -> Message:
    await asyncio.Event().wait()
    raise AssertionError
