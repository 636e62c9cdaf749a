"""`POST /v1/ask`: a context first, then a model, whose answer is streamed.

Assembling takes a place in the worker pool. The model's answer is mostly waiting, so it takes one
of the answer slots instead. A client that disconnects ends the model's answer too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import ExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from foveate.answer.ask import Answer, AskEvent, AskOptions, aask_events
from foveate.answer.image_bytes import ImageSource
from foveate.answer.messages import messages
from foveate.answer.stream import CitationEvent
from foveate.answer.wire import answer_to_json, event_to_json
from foveate.core.errors import BadInput, ExternalError
from foveate.core.types import Context
from foveate.pipeline.inputs import parse_messages
from foveate.pipeline.options import AssembleOptions, resolve_options
from foveate.ports import Message, Model
from foveate.providers.chat.request import check_messages
from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller, require_scope
from foveate.service.observe.request_state import error_summary, observe_answer
from foveate.service.problems import problem_responses, problem_to_json
from foveate.service.request_options import is_path
from foveate.service.routes import state_of
from foveate.service.routes.assemble import assemble_evidence, result_to_json
from foveate.service.tenant_images import context_images
from foveate.service.wire.answers import EVENT_SCHEMA, AskAnswer
from foveate.service.wire.body import StrictRoute
from foveate.service.wire.errors import ProblemError
from foveate.service.wire.json import encode_json, json_response
from foveate.service.wire.requests import AskRequest
from foveate.service.worker_pool import run_while_connected

HEARTBEAT_SECONDS = 10.0
"""Seconds of silence after which a stream sends a comment."""
QUEUE_SIZE = 256
"""Events that wait for a slow reader; then the model waits."""
STREAM_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"itemSchema": EVENT_SCHEMA}}}
}
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_NO_ANSWER = "the model gave no answer; ask again, or another model"

router = APIRouter(prefix="/v1", tags=["contexts"], route_class=StrictRoute)
log = logging.getLogger("foveate.service")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSettings:
    """The model, by its name in requests; how it is asked; the context's options; what is sent.

    `lost`: hashes of images that the context shows and the model is not sent.
    """

    name: str
    model: Model
    options: AskOptions
    context_options: AssembleOptions
    sent: tuple[Message, ...] = ()
    lost: tuple[str, ...] = ()


@router.post(
    "/ask",
    response_model=AskAnswer,
    responses=STREAM_RESPONSE | problem_responses(404, 502, 504, body=True),
)
async def ask(
    request: Request, body: AskRequest, caller: Annotated[Caller, require_scope("ask")]
) -> Response:
    """Ask a model about what the store or the candidates say; the answer is checked."""
    state = state_of(request)

    def work() -> tuple[AskSettings, Context, bytes]:
        how = resolve_ask(state, body)
        lost: set[str] = set()
        images = context_images(state, caller.tenant, body, lost)
        result = assemble_evidence(state, caller, body.question, body, how.context_options)
        record = result_to_json(request, caller, body, result)
        sent = build_messages(result.context, how, images)
        how = replace(how, sent=sent, lost=tuple(sorted(lost)))
        if lost:
            record["lost_images"] = how.lost
        return how, result.context, encode_json(record) if body.stream else b""

    with ExitStack() as slots:
        slots.enter_context(state.answer_slots.slot(answering_model(state, body)))
        how, context, opening = await state.pool.run(request, work)
        if body.stream:
            events = stream_answer(request, context, how, opening)
            return EventStreamResponse(events, slots.pop_all())
        return json_response(await run_while_connected(request, fetch_answer(context, how), None))


class EventStreamResponse(StreamingResponse):
    """A stream of events that gives back its slot, and ends the model's answer, in every case."""

    def __init__(self, events: AsyncGenerator[bytes, None], slots: ExitStack) -> None:
        super().__init__(events, media_type="text/event-stream", headers=STREAM_HEADERS)
        self._events, self._slots = events, slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the last one, or until the client disconnects."""
        with self._slots:
            async with aclosing(self._events):
                await super().__call__(scope, receive, send)


def answering_model(state: AppState, body: AskRequest) -> str:
    """The model's name in requests: the one that is asked for, or the first; empty without any."""
    return body.model or next(iter(state.request_options.answer_models), "")


def resolve_ask(state: AppState, body: AskRequest) -> AskSettings:
    """The values of a request's names; raises `UnknownName`, `BadOption` or a 503 problem."""
    name = answering_model(state, body)
    if not name:
        raise BadInput(
            "this service has no model that answers; its settings name some under [models]",
            field="model",
        )
    model = state.request_options.answer_model(name)
    options = state.request_options.options_from(
        body, model=name, max_output=body.max_tokens or 1024
    )
    how = AskOptions(
        prompt=body.prompt,
        system=resolve_options(options, body.question).system,
        channel=body.channel,
        language=body.language,
        max_tokens=body.max_tokens,
        temperature=body.temperature,
        timeout=state.answer_slots.seconds,
        window=state.settings.windows.get(name),
    )
    return AskSettings(name=name, model=model, options=how, context_options=options)


def build_messages(context: Context, how: AskSettings, images: ImageSource) -> tuple[Message, ...]:
    """System prompt, earlier messages, context and question; raises `BadInput` for wrong roles."""
    options = how.context_options
    *system, user = messages(
        context, system=how.options.system, template=options.template, images=images
    )
    earlier: list[Message] = [
        {"role": role, "content": text} for role, text in parse_messages(options.messages)
    ]
    check_messages([*system, *earlier, user])
    return (*system, *earlier, user)


async def fetch_answer(context: Context, how: AskSettings) -> dict[str, Any]:
    """The whole answer; raises a 502 problem if the model gives none."""
    with _convert_model_errors(how.name):
        async with aclosing(_answer_events(context, how)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return _answer_to_json(event, context, how)
    raise ProblemError(502, "model", _NO_ANSWER)


async def stream_answer(
    request: Request, context: Context, how: AskSettings, opening: bytes
) -> AsyncGenerator[bytes, None]:
    """The events of a stream, `opening` first; an error is the last of them."""
    yield encode_sse("context", opening)
    async with _event_queue(request, context, how) as queue:
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    item = await queue.get()
            except TimeoutError:
                yield b": still at work\n\n"
                continue
            if item is None:
                return
            yield item


@asynccontextmanager
async def _event_queue(
    request: Request, context: Context, how: AskSettings
) -> AsyncIterator[asyncio.Queue[bytes | None]]:
    """The model's events, read by one task that ends with their reader."""
    queue: asyncio.Queue[bytes | None] = asyncio.Queue(QUEUE_SIZE)
    pump = asyncio.create_task(_fill_queue(request, context, how, queue))
    try:
        yield queue
    finally:
        pump.cancel()
        with suppress(asyncio.CancelledError):
            await pump


async def _fill_queue(
    request: Request, context: Context, how: AskSettings, queue: asyncio.Queue[bytes | None]
) -> None:
    try:
        with _convert_model_errors(how.name):
            async with aclosing(_answer_events(context, how)) as events:
                async for event in events:
                    await queue.put(_encode_event(event, context, how))
    except Exception as error:  # noqa: BLE001  # the response has begun: the error is an event
        await queue.put(encode_sse("error", encode_json(problem_to_json(request, error))))
    await queue.put(None)


def _answer_events(context: Context, how: AskSettings) -> AsyncGenerator[AskEvent, None]:
    events = aask_events(context, how.model, how.options, sent=how.sent)
    assert isinstance(events, AsyncGenerator)
    return observe_answer(how.name, events)


def _answer_to_json(answer: Answer, context: Context, how: AskSettings) -> dict[str, Any]:
    """The record of an answer, in which a file's path is the model's name in requests."""
    record = answer_to_json(answer, context)
    if is_path(record["model"]):
        record["model"] = how.name
    if how.lost:
        record["lost_images"] = how.lost
    return record


def _encode_event(event: AskEvent, context: Context, how: AskSettings) -> bytes:
    if isinstance(event, Answer):
        return encode_sse("answer", encode_json(_answer_to_json(event, context, how)))
    name = "citation" if isinstance(event, CitationEvent) else "text"
    return encode_sse(name, encode_json(event_to_json(event)))


def encode_sse(name: str, data: bytes) -> bytes:
    """One event; JSON has no line ends in it."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


@contextmanager
def _convert_model_errors(name: str) -> Iterator[None]:
    """A model's error may name addresses: it goes to the log, and not to the caller."""
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as error:  # a plugin's; they would end the service
        raise RuntimeError(f"the model {name!r} raised {type(error).__name__}") from error
    except ExternalError as error:
        log.warning("the model %r failed: %s", name, error_summary(error), exc_info=error)
        raise ProblemError(502, "model", _NO_ANSWER) from error
