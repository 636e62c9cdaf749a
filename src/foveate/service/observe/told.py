"""What the endpoints tell of answers: into the metrics, the log line and the trace of a request.

Each finds the request at hand by itself, and does nothing where there is none.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import perf_counter

from foveate.answer.ask import Answer, Happening
from foveate.answer.check import Checked
from foveate.core.errors import FoveateError
from foveate.service.observe.seen import SEEN, Seen
from foveate.service.observe.unbroken import never_raising, unbroken

_ANSWERED = re.compile(r"answered \d{3}")


@never_raising
def checked(made: Checked, *, of: str) -> None:
    """An answer held against its context; `of`: the endpoint."""
    seen = SEEN.get()
    if seen is None:
        return
    seen.metrics.checked(made, of=of)
    seen.counts.update(
        claims=len(made.claims), uncited=len(made.uncited), dangling=len(made.dangling)
    )
    seen.content["answer"] = made.answer


async def asking(
    name: str, events: AsyncGenerator[Happening, None]
) -> AsyncGenerator[Happening, None]:
    """The events of a model's answer, as they are; `name`: the model's in requests."""
    seen = SEEN.get()
    if seen is None:
        async with aclosing(events):
            async for event in events:
                yield event
        return
    begun, outcome = perf_counter(), "left"
    span = seen.traces.model(seen.metrics.names.model(name)) if seen.traces else None
    try:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Answer):
                    outcome = "answered"
                    _answered(seen, name, event, perf_counter() - begun)
                    if span is not None:
                        never_raising(span.answered)(event)
                yield event
    except Exception as error:
        outcome = "failed"
        if span is not None:
            span.failed(error)
        raise
    finally:
        with unbroken():
            if outcome != "answered":
                model = seen.metrics.names.model(name)
                seen.metrics.model_answers.labels(model, outcome).inc()
            if span is not None:
                span.end()


@never_raising
def _answered(seen: Seen, name: str, answer: Answer, seconds: float) -> None:
    usage = answer.reply.usage
    seen.metrics.model(name, seconds, usage, answer.cost)
    counts = {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion}
    seen.counts["model"] = seen.metrics.names.model(name)
    seen.counts.update({name: count for name, count in counts.items() if count is not None})
    checked(answer.checked, of="ask")


def brief(error: FoveateError) -> str:
    """What a model's failure is, without the other side's words, which may repeat the question."""
    found = _ANSWERED.search(str(error))
    return found[0] if found else "no answer that can be read"
