"""`POST /v1/ask`: the context, then the model's answer as it is written."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import ExitStack, aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from foveate.core.types import Context
from foveate.service.app_state import AppState
from foveate.service.ask import AskSettings, fetch_answer, resolve_ask, stream_answer
from foveate.service.assemble import assemble_evidence, result_to_json
from foveate.service.audit import add_audit_fields
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.problems import problem_responses
from foveate.service.routes.strict import StrictRoute
from foveate.service.wire.ask import EVENT_SCHEMA, AskAnswer, AskRequest
from foveate.service.wire.json import encode_json, json_response
from foveate.service.worker_pool import run_while_connected

router = APIRouter(prefix="/v1", tags=["contexts"], route_class=StrictRoute)
STREAM_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"itemSchema": EVENT_SCHEMA}}}
}
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@router.post(
    "/ask",
    response_model=AskAnswer,
    responses=STREAM_RESPONSE | problem_responses(404, 502, 504, body=True),
)
async def ask(
    request: Request, asked: AskRequest, caller: Annotated[Caller, require_scope("ask")]
) -> Response:
    """Ask a model about what the store or the candidates say; the answer is checked."""
    held: AppState = request.app.state.app_state

    def work() -> tuple[AskSettings, Context, bytes]:
        settled = resolve_ask(held, asked)
        made = assemble_evidence(held, caller, asked.question, asked, settled.context_options)
        record = result_to_json(made)
        add_audit_fields(
            request.scope, record["manifest"], principals=caller.narrow_principals(asked.principals)
        )
        return settled, made.context, encode_json(record) if asked.stream else b""

    with ExitStack() as places:
        places.enter_context(held.answer_slots.slot())
        settled, context, opening = await held.pool.run(request, work, stops=True)
        if not asked.stream:
            return json_response(
                await run_while_connected(request, fetch_answer(context, settled), None)
            )
        events = stream_answer(request, context, settled, opening)
        return EventStreamResponse(events, places.pop_all())


class EventStreamResponse(StreamingResponse):
    """A stream of events that gives back its place, and lets go of the model, in every case."""

    def __init__(self, events: AsyncGenerator[bytes, None], places: ExitStack) -> None:
        super().__init__(events, media_type="text/event-stream", headers=STREAM_HEADERS)
        self._events = events
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the last one, or until the client goes away."""
        with self._places:
            async with aclosing(self._events):
                await super().__call__(scope, receive, send)
