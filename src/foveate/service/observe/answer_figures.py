"""What the endpoints tell of answers: into the metrics, the log line and the trace of a request.

Each finds the request at hand by itself, and does nothing where there is none.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import perf_counter

from foveate.answer.ask import Answer, AskEvent
from foveate.answer.check import AnswerCheck
from foveate.core.errors import FoveateError
from foveate.service.observe.guarded import log_errors, never_raise
from foveate.service.observe.request_state import REQUEST_STATE, RequestState

_STATUS_PATTERN = re.compile(r"answered \d{3}")


@never_raise
def record_check(made: AnswerCheck, *, of: str) -> None:
    """An answer held against its context; `of`: the endpoint."""
    seen = REQUEST_STATE.get()
    if seen is None:
        return
    seen.metrics.record_check(made, of=of)
    seen.counts.update(
        claims=len(made.claims), uncited=len(made.uncited), dangling=len(made.dangling)
    )
    seen.content["answer"] = made.answer


async def observe_answer(
    name: str, events: AsyncGenerator[AskEvent, None]
) -> AsyncGenerator[AskEvent, None]:
    """The events of a model's answer, as they are; `name`: the model's in requests."""
    seen = REQUEST_STATE.get()
    if seen is None:
        async with aclosing(events):
            async for event in events:
                yield event
        return
    begun, outcome = perf_counter(), "left"
    span = (
        seen.traces.start_model_span(seen.metrics.names.model_label(name)) if seen.traces else None
    )
    try:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Answer):
                    outcome = "answered"
                    _record_answer(seen, name, event, perf_counter() - begun)
                    if span is not None:
                        never_raise(span.record_answer)(event)
                yield event
    except Exception as error:
        outcome = "failed"
        if span is not None:
            span.record_error(error)
        raise
    finally:
        with log_errors():
            if outcome != "answered":
                model = seen.metrics.names.model_label(name)
                seen.metrics.model_answers.labels(model, outcome).inc()
            if span is not None:
                span.end()


@never_raise
def _record_answer(seen: RequestState, name: str, answer: Answer, seconds: float) -> None:
    usage = answer.reply.usage
    seen.metrics.record_model(name, seconds, usage, answer.cost)
    counts = {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion}
    seen.counts["model"] = seen.metrics.names.model_label(name)
    seen.counts.update({name: count for name, count in counts.items() if count is not None})
    record_check(answer.check, of="ask")


def error_summary(error: FoveateError) -> str:
    """What a model's failure is, without the other side's words, which may repeat the question."""
    found = _STATUS_PATTERN.search(str(error))
    return found[0] if found else "no answer that can be read"
