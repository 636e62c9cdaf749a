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
from foveate.service.audit import note
from foveate.service.auth.caller import Caller, caller_with
from foveate.service.held import Held
from foveate.service.mcp.bounds import Bounds
from foveate.service.mcp.calls import Desk
from foveate.service.mcp.failures import Refused
from foveate.service.mcp.server import Reception, Run, Visit, server_of
from foveate.service.mcp.shown import Answer
from foveate.service.mcp.tools import tools
from foveate.service.problems import ProblemError

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Message, Receive, Scope, Send

router = APIRouter(tags=["tools for agents"])


class Handed(Response):
    """A request handed on to the protocol's own application, which answers it."""

    def __init__(self, protocol: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self._protocol = protocol

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it answer."""
        await self._protocol.handle_request(scope, receive, send)


@router.post("/mcp", include_in_schema=False)
async def mcp(request: Request, _: Annotated[Caller, caller_with("mcp")]) -> Response:
    """The Model Context Protocol; docs/mcp.md says how to get at it."""
    protocol = request.app.state.mcp
    if protocol is None:
        raise ProblemError(404, "not-found", "this service has no tools for agents")
    return Handed(protocol)


@asynccontextmanager
async def speaking(app: FastAPI, held: Held) -> AsyncIterator[None]:
    """The tools while the service runs; none where its settings, or what is installed, say so."""
    app.state.mcp = None
    if not held.settings.mcp or find_spec("mcp") is None:
        yield
        return
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    protocol = StreamableHTTPSessionManager(
        server_of(_reception(held), _at_work(held)),
        stateless=True,
        max_request_body_size=held.settings.body_bytes,
    )
    async with protocol.run():
        app.state.mcp = protocol
        yield


def _reception(held: Held) -> Reception:
    """Who asks stands on the request, where its key was read."""
    settings, door = held.settings, held.door
    bounds = Bounds(
        budget=settings.mcp_most,
        usual=settings.mcp_budget,
        candidates=min(settings.candidates, Bounds().candidates),
    )
    every = tools(bounds, door.recipes, door.formats, recipe=settings.recipe)

    def receive(request: Request) -> Visit:
        caller: Caller = request.scope["state"]["caller"]
        desk = Desk(
            opened=lambda: _opened(held, caller.tenant),
            settle=door.plan,
            principals=caller.principals,
            cache=held.cache_of(caller.tenant),
            around=held.around,
            bounds=bounds,
        )
        return Visit(
            desk=desk,
            tools=tuple(tool for tool in every if tool.scope in caller.scopes),
            note=lambda answer: _noted(request, answer),
        )

    return receive


def _noted(request: Request, answer: Answer) -> None:
    manifests = (answer.manifest,) if answer.manifest is not None else ()
    note(request.scope, *manifests, state_root=answer.state_root or None)


@contextmanager
def _opened(held: Held, tenant: str) -> Iterator[tuple[Store, Embedder | None]]:
    with held.shelves.of(tenant) as shelf:
        yield shelf.store, shelf.embedder


def _at_work(held: Held) -> Run:
    """On the service's threads. A client that leaves is noticed by the protocol, not here."""

    async def run(work: Callable[[], Answer]) -> Answer:
        try:
            return await held.work.run(Request({"type": "http"}, _never), work, stops=True)
        except ProblemError as error:
            raise Refused(str(error.detail)) from error

    return run


async def _never() -> Message:
    await asyncio.Event().wait()
    raise AssertionError
