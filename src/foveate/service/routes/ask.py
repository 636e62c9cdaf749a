"""`POST /v1/ask`: the context, then the model's answer as it is written."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import ExitStack, aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from foveate.core.types import Context
from foveate.service.asking import Settled, answered, settled_for, streamed
from foveate.service.assembled import as_json, grounds
from foveate.service.audit import note
from foveate.service.auth.caller import Caller, caller_with
from foveate.service.problems import documented
from foveate.service.routes.strict import StrictRoute
from foveate.service.wire.ask import EVENT, AskAnswer, AskAsked
from foveate.service.wire.json import answer, as_bytes
from foveate.service.work import attended

router = APIRouter(prefix="/v1", tags=["contexts"], route_class=StrictRoute)
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"itemSchema": EVENT}}}
}
UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.post(
    "/ask",
    response_model=AskAnswer,
    responses=STREAM | documented(404, 502, 504, body=True),
)
async def ask(
    request: Request, asked: AskAsked, caller: Annotated[Caller, caller_with("ask")]
) -> Response:
    """Ask a model about what the store or the candidates say; the answer is checked."""
    held = request.app.state.held

    def work() -> tuple[Settled, Context, bytes]:
        settled = settled_for(held, asked)
        made = grounds(held, caller, asked.question, asked, settled.plan)
        record = as_json(made)
        note(request.scope, record["manifest"], principals=caller.reading_as(asked.principals))
        return settled, made.context, as_bytes(record) if asked.stream else b""

    with ExitStack() as places:
        places.enter_context(held.answering.place())
        settled, context, opening = await held.work.run(request, work, stops=True)
        if not asked.stream:
            return answer(await attended(request, answered(context, settled), None))
        events = streamed(request, context, settled, opening)
        return Streamed(events, places.pop_all())


class Streamed(StreamingResponse):
    """A stream of events that gives back its place, and lets go of the model, in every case."""

    def __init__(self, events: AsyncGenerator[bytes, None], places: ExitStack) -> None:
        super().__init__(events, media_type="text/event-stream", headers=UNBUFFERED)
        self._events = events
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the last one, or until the client goes away."""
        with self._places:
            async with aclosing(self._events):
                await super().__call__(scope, receive, send)
