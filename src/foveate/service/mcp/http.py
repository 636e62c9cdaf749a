"""The tools over streamable HTTP at `/mcp`.

Every request has its key and is answered alone, by any process or replica: there is no session and
no stream that stays open (a GET is refused). A key needs the scope `mcp`, and that of each tool.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, FastAPI, Request, Response

from foveate.service.app_state import AppState
from foveate.service.audit import add_audit_fields
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.mcp.results import ToolResult
from foveate.service.mcp.tool import ToolContext, ToolLimits
from foveate.service.mcp.tools import build_tools
from foveate.service.wire.errors import ProblemError

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Receive, Scope, Send

    from foveate.service.mcp.server import Authentication

router = APIRouter(tags=["tools for agents"])


class ProtocolResponse(Response):
    """Hands the request to the protocol's own application."""

    def __init__(self, protocol: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self._protocol = protocol

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the protocol answer."""
        await self._protocol.handle_request(scope, receive, send)


@router.post("/mcp", include_in_schema=False)
async def mcp(request: Request, _: Annotated[Caller, require_scope("mcp")]) -> Response:
    """The Model Context Protocol: docs/mcp.md."""
    protocol = request.app.state.mcp
    if protocol is None:
        raise ProblemError(404, "not-found", "this service has no tools for agents")
    return ProtocolResponse(protocol)


@asynccontextmanager
async def mcp_lifespan(app: FastAPI, state: AppState) -> AsyncIterator[None]:
    """Serve the tools, unless the settings say no or the package is not installed."""
    app.state.mcp = None
    if not state.settings.mcp or find_spec("mcp") is None:
        yield
        return
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from foveate.service.mcp.server import build_server, pool_runner

    protocol = StreamableHTTPSessionManager(
        build_server(_authentication(state), pool_runner(state.pool)),
        stateless=True,
        max_request_body_size=state.settings.body_bytes,
    )
    async with protocol.run():
        app.state.mcp = protocol
        yield


def _authentication(state: AppState) -> Authentication:
    """The caller of a request is in its state."""
    settings, names = state.settings, state.request_options
    limits = ToolLimits(
        budget=settings.mcp_most,
        usual_budget=settings.mcp_budget,
        candidates=min(settings.candidates, ToolLimits().candidates),
    )
    tools = build_tools(limits, names.recipes, names.formats, recipe=settings.recipe)

    def authenticate(request: Request) -> ToolContext:
        caller: Caller = request.scope["state"]["caller"]

        def record(result: ToolResult) -> None:
            manifests = (result.manifest,) if result.manifest is not None else ()
            add_audit_fields(request.scope, *manifests, state_root=result.state_root or None)

        return ToolContext(
            assembler=partial(state.assembler, caller.tenant),
            options=names.options,
            principals=caller.principals,
            limits=limits,
            originals=state.originals,
            tenant=caller.tenant,
            tools=tuple(tool for tool in tools if tool.scope in caller.scopes),
            record=record,
        )

    return authenticate
