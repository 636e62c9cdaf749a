"""The state of the current request, for its log line, metrics and traces.

Threads that work for a request run in a copy of its context, and find the same state.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from foveate.answer.ask import Answer, AskEvent
from foveate.answer.check import AnswerCheck
from foveate.core.errors import FoveateError

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from foveate.service.observe.metrics import Metrics
    from foveate.service.observe.tracing import Traces


log = logging.getLogger("foveate.service")


@contextmanager
def log_errors() -> Iterator[None]:
    """Log an error of the measuring, in a block or a function: what is measured goes on."""
    try:
        yield
    except Exception as error:  # a full disk is no fault of a request
        log.warning("watching failed: %s", type(error).__name__, exc_info=error)


@dataclass(slots=True, kw_only=True)
class RequestState:
    """One request. `counts` go into its log line; `content` only if the settings allow it."""

    scope: Any
    metrics: Metrics
    verb: str = ""
    status: int = 0
    bytes: int = 0
    traces: Traces | None = None
    span: Span | None = None
    counts: dict[str, int | float | str] = field(default_factory=dict)
    content: dict[str, str] = field(default_factory=dict)

    @property
    def request_id(self) -> str:
        """The id on the response; empty before the request has one."""
        return str(self.scope.get("state", {}).get("request_id", ""))

    @property
    def trace_id(self) -> str:
        """The trace's id, 32 hex digits; empty if the request is not traced."""
        return f"{self.span.get_span_context().trace_id:032x}" if self.span is not None else ""


REQUEST_STATE: ContextVar[RequestState] = ContextVar("foveate_seen")
_OWN_WORDS = re.compile(
    r"answered \d{3}"
    r"|cannot be reached, or broke off(?: \((?:All connection attempts failed|\[Errno[^)]*)\))?"
    r"|did not (?:finish|begin to answer) within [\d.]+ s"
)
"""What our own messages say of a failure: a status, a connection, a time limit."""


@log_errors()
def record_check(made: AnswerCheck, *, of: str) -> None:
    """Measure a checked answer; `of`: the endpoint. Without a request, nothing happens."""
    state = REQUEST_STATE.get(None)
    if state is None:
        return
    state.metrics.record_check(made, of=of)
    state.counts.update(
        claims=len(made.claims), uncited=len(made.uncited), dangling=len(made.dangling)
    )
    state.content["answer"] = made.answer


async def observe_answer(
    name: str, events: AsyncGenerator[AskEvent, None]
) -> AsyncGenerator[AskEvent, None]:
    """The events of a model's answer, measured; `name`: the model's name in requests."""
    state = REQUEST_STATE.get()
    traces, begun, outcome = state.traces, perf_counter(), "left"
    model = state.metrics.label("model", name)
    span = traces.answer_span(model) if traces is not None else None
    try:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Answer):
                    outcome = "answered"
                    _record_answer(state, model, event, perf_counter() - begun)
                    if traces is not None and span is not None:
                        with log_errors():
                            traces.record_answer(span, event)
                yield event
    except Exception as error:
        outcome = "failed"
        if traces is not None:
            traces.record_error(span, error)
        raise
    finally:
        with log_errors():
            if outcome != "answered":
                state.metrics.of("model_answers", model=model, outcome=outcome).inc()
            if span is not None:
                span.end()


@log_errors()
def _record_answer(state: RequestState, model: str, answer: Answer, seconds: float) -> None:
    usage = answer.reply.usage
    state.metrics.record_model(model, seconds, usage)
    counts = {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion}
    state.counts["model"] = model
    state.counts.update({name: count for name, count in counts.items() if count is not None})
    record_check(answer.check, of="ask")


def error_summary(error: FoveateError) -> str:
    """A model's failure without the provider's words, which may repeat the question."""
    found = _OWN_WORDS.search(str(error))
    return found[0] if found else "no answer that can be read"
