"""What `POST /v1/ask` does: a context first, then a model, whose answer goes out as it comes.

Assembling is work like any other; a model's answer is mostly waiting, so it takes no place there,
but one of `settings.asking`. Who goes away ends the model's answer too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from foveate.answer.ask import Answer, AskEvent, AskOptions, aask_events
from foveate.answer.stream import CitationEvent
from foveate.answer.wire import answer_to_json, event_to_json
from foveate.core.errors import BadInput, ExternalError
from foveate.core.types import Context
from foveate.pipeline.options import AssembleOptions, resolve_options
from foveate.ports import Model
from foveate.service.app_state import AppState
from foveate.service.observe.answer_figures import error_summary, observe_answer
from foveate.service.problems import ProblemError, problem_to_json
from foveate.service.wire.ask import AskRequest
from foveate.service.wire.json import encode_json

HEARTBEAT_SECONDS = 10.0
"""Seconds of silence after which a stream says that it is still at work."""
QUEUE_SIZE = 256
"""Events that wait for a slow reader; then the model waits."""

log = logging.getLogger("foveate.service")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSettings:
    """Whom to ask, by the name in requests; how, and what the context may be."""

    name: str
    model: Model
    options: AskOptions
    context_options: AssembleOptions


def resolve_ask(held: AppState, asked: AskRequest) -> AskSettings:
    """What a request asks for; raises `UnknownName`, `BadOption` or a 503 problem."""
    name = asked.model or next(iter(held.request_options.answer_models), "")
    if not name:
        raise BadInput(
            "this service has no model that answers; its settings name some under [models]",
            field="model",
        )
    model = held.request_options.answer_model(name)
    options = held.request_options.options(
        recipe=asked.recipe,
        budget=asked.budget,
        model=name,
        language=asked.language,
        channel=asked.channel,
        prompt=asked.prompt,
        max_output=asked.max_tokens or 1024,
    )
    how = AskOptions(
        prompt=asked.prompt,
        system=resolve_options(options, asked.question).system,
        channel=asked.channel,
        language=asked.language,
        max_tokens=asked.max_tokens,
        timeout=held.answer_slots.seconds,
        window=held.settings.windows.get(name),
    )
    return AskSettings(name=name, model=model, options=how, context_options=options)


async def fetch_answer(context: Context, settled: AskSettings) -> dict[str, Any]:
    """The whole answer; raises a 502 problem where the model gives none."""
    with _convert_model_errors():
        async with aclosing(_answer_events(context, settled)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return answer_to_json(event, context)
    raise ProblemError(502, "model", _NO_ANSWER)


async def stream_answer(
    request: Request, context: Context, settled: AskSettings, opening: bytes
) -> AsyncGenerator[bytes, None]:
    """The events of a stream, `opening` first; what fails is the last of them."""
    yield encode_sse("context", opening)
    async with _event_queue(request, context, settled) as queue:
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
    request: Request, context: Context, settled: AskSettings
) -> AsyncIterator[asyncio.Queue[bytes | None]]:
    """The events, taken from the model by one task, which ends with whoever reads them."""
    queue: asyncio.Queue[bytes | None] = asyncio.Queue(QUEUE_SIZE)
    pump = asyncio.create_task(_fill_queue(request, context, settled, queue))
    try:
        yield queue
    finally:
        pump.cancel()
        with suppress(asyncio.CancelledError):
            await pump


async def _fill_queue(
    request: Request, context: Context, settled: AskSettings, queue: asyncio.Queue[bytes | None]
) -> None:
    try:
        with _convert_model_errors():
            async with aclosing(_answer_events(context, settled)) as events:
                async for event in events:
                    await queue.put(_encode_event(event, context))
    except Exception as error:  # noqa: BLE001  # the stream has begun: this is how it is told
        await queue.put(encode_sse("error", encode_json(problem_to_json(request, error))))
    await queue.put(None)


def _answer_events(context: Context, settled: AskSettings) -> AsyncGenerator[AskEvent, None]:
    events = aask_events(context, settled.model, settled.options)
    assert isinstance(events, AsyncGenerator)
    return observe_answer(settled.name, events)


def _encode_event(event: AskEvent, context: Context) -> bytes:
    if isinstance(event, Answer):
        return encode_sse("answer", encode_json(answer_to_json(event, context)))
    name = "citation" if isinstance(event, CitationEvent) else "text"
    return encode_sse(name, encode_json(event_to_json(event)))


def encode_sse(name: str, data: bytes) -> bytes:
    """One event; JSON has no line ends in it."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


@contextmanager
def _convert_model_errors() -> Iterator[None]:
    """What a model says of its trouble may name addresses: the log has it, the caller does not."""
    try:
        yield
    except ExternalError as error:
        log.warning("a model failed: %s", error_summary(error), exc_info=error)
        raise ProblemError(502, "model", _NO_ANSWER) from error


_NO_ANSWER = "the model gave no answer; ask again, or another model"
