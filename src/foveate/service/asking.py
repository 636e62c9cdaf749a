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

from foveate.answer.ask import Answer, Asking, Happening, aask_events
from foveate.answer.stream import Cited
from foveate.answer.wire import answer_to_json, event_to_json
from foveate.core.errors import BadInput, OutsideFailure
from foveate.core.types import Context
from foveate.plan import Plan
from foveate.ports import Model
from foveate.service.held import Held
from foveate.service.observe.told import asking, brief
from foveate.service.problems import ProblemError, told
from foveate.service.wire.ask import AskAsked
from foveate.service.wire.json import as_bytes

BEAT = 10.0
"""Seconds of silence after which a stream says that it is still at work."""
AHEAD = 256
"""Events that wait for a slow reader; then the model waits."""

log = logging.getLogger("foveate.service")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Whom to ask, by the name in requests; how, and what the context may be."""

    name: str
    model: Model
    how: Asking
    plan: Plan


def settled_for(held: Held, asked: AskAsked) -> Settled:
    """What a request asks for; raises `UnknownName`, `BadOption` or a 503 problem."""
    name = asked.model or next(iter(held.door.answering), "")
    if not name:
        raise BadInput(
            "this service has no model that answers; its settings name some under [models]",
            field="model",
        )
    model = held.door.speaker(name)
    plan = held.door.plan(
        query=asked.question,
        recipe=asked.recipe,
        budget=asked.budget,
        model=name,
        language=asked.language,
        channel=asked.channel,
        prompt=asked.prompt,
        max_output=asked.max_tokens or 1024,
    )
    how = Asking(
        prompt=asked.prompt,
        system=plan.system,
        channel=asked.channel,
        language=asked.language,
        max_tokens=asked.max_tokens,
        timeout=held.answering.seconds,
        window=held.settings.windows.get(name),
    )
    return Settled(name=name, model=model, how=how, plan=plan)


async def answered(context: Context, settled: Settled) -> dict[str, Any]:
    """The whole answer; raises a 502 problem where the model gives none."""
    with _of_model():
        async with aclosing(_events(context, settled)) as events:
            async for event in events:
                if isinstance(event, Answer):
                    return answer_to_json(event, context)
    raise ProblemError(502, "model", _SILENT)


async def streamed(
    request: Request, context: Context, settled: Settled, opening: bytes
) -> AsyncGenerator[bytes, None]:
    """The events of a stream, `opening` first; what fails is the last of them."""
    yield event_of("context", opening)
    async with _pumped(request, context, settled) as queue:
        while True:
            try:
                async with asyncio.timeout(BEAT):
                    item = await queue.get()
            except TimeoutError:
                yield b": still at work\n\n"
                continue
            if item is None:
                return
            yield item


@asynccontextmanager
async def _pumped(
    request: Request, context: Context, settled: Settled
) -> AsyncIterator[asyncio.Queue[bytes | None]]:
    """The events, taken from the model by one task, which ends with whoever reads them."""
    queue: asyncio.Queue[bytes | None] = asyncio.Queue(AHEAD)
    pump = asyncio.create_task(_pump(request, context, settled, queue))
    try:
        yield queue
    finally:
        pump.cancel()
        with suppress(asyncio.CancelledError):
            await pump


async def _pump(
    request: Request, context: Context, settled: Settled, queue: asyncio.Queue[bytes | None]
) -> None:
    try:
        with _of_model():
            async with aclosing(_events(context, settled)) as events:
                async for event in events:
                    await queue.put(_spelled(event, context))
    except Exception as error:  # noqa: BLE001  # the stream has begun: this is how it is told
        await queue.put(event_of("error", as_bytes(told(request, error))))
    await queue.put(None)


def _events(context: Context, settled: Settled) -> AsyncGenerator[Happening, None]:
    events = aask_events(context, settled.model, settled.how)
    assert isinstance(events, AsyncGenerator)
    return asking(settled.name, events)


def _spelled(event: Happening, context: Context) -> bytes:
    if isinstance(event, Answer):
        return event_of("answer", as_bytes(answer_to_json(event, context)))
    name = "citation" if isinstance(event, Cited) else "text"
    return event_of(name, as_bytes(event_to_json(event)))


def event_of(name: str, data: bytes) -> bytes:
    """One event; JSON has no line ends in it."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


@contextmanager
def _of_model() -> Iterator[None]:
    """What a model says of its trouble may name addresses: the log has it, the caller does not."""
    try:
        yield
    except OutsideFailure as error:
        log.warning("a model failed: %s", brief(error), exc_info=error)
        raise ProblemError(502, "model", _SILENT) from error


_SILENT = "the model gave no answer; ask again, or another model"
