"""An assembly as OpenTelemetry spans: one for the whole, one a stage, one an external call.

Spans hold names, counts and times; no texts, titles, questions or ids unless content is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from time import time_ns
from typing import Any, TypeAlias

from foveate._version import __version__
from foveate.core.errors import MissingExtra
from foveate.core.measure import count_exclusions
from foveate.core.types import Context, StageTrace
from foveate.pipeline.observers import ASSEMBLY_STEPS, CALL_STEPS, CallFigures

Attributes: TypeAlias = Mapping[str, str | bool | int | float]

ATTRIBUTE_PREFIX = "foveate."
GEN_AI_OPERATIONS = {"embed": "embeddings", "search": "retrieval", "model": "chat"}
"""By call: its operation in OpenTelemetry's conventions for generative AI."""
GEN_AI_FIGURES = {
    "provider": "gen_ai.provider.name",
    "model": "gen_ai.request.model",
    "prompt_tokens": "gen_ai.usage.input_tokens",
    "completion_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
}
"""By figure of such a call: its attribute there."""


class Tracing:
    """Who makes OpenTelemetry spans of assemblies: `assemble(…, observers=Tracing())`.

    `provider`: an OpenTelemetry `TracerProvider`; without one the global one, which does nothing
    until a program sets it up. `content`: questions, contexts and messages of errors may stand on
    spans. `named`: what a recipe is called there; where requests bring recipes of
    their own, the name of one is the caller's text. One is enough for a program; threads may share
    it.

    Raises `MissingExtra` where OpenTelemetry is not installed.
    """

    def __init__(
        self, provider: Any = None, *, content: bool = False, named: Callable[[str], str] = str
    ) -> None:
        try:
            from opentelemetry import trace
        except ImportError:
            raise MissingExtra("opentelemetry-sdk", "otel") from None
        self.tracer = trace.get_tracer("foveate", __version__, provider)
        self.content, self.named = content, named

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """The span of a step, current while the step lasts."""
        from opentelemetry import context, trace

        operation = GEN_AI_OPERATIONS.get(name)
        span = self.tracer.start_span(
            ATTRIBUTE_PREFIX + name,
            kind=trace.SpanKind.CLIENT if operation else trace.SpanKind.INTERNAL,
            attributes={"gen_ai.operation.name": operation} if operation else {},
            start_time=time_ns(),
        )
        before = context.attach(trace.set_span_in_context(span))
        own = _CURRENT_SPANS.set(_AssemblySpans()) if name in ASSEMBLY_STEPS else None
        run = _CURRENT_SPANS.get()
        try:
            yield
        except BaseException as error:
            record_error(span, error, content=self.content)
            raise
        finally:
            end = time_ns()
            context.detach(before)
            if own is not None and run is not None:
                _CURRENT_SPANS.reset(own)
                self._end_assembly(run, span, end)
            elif name in CALL_STEPS or run is None or not run.add(name, span, end):
                span.end(end)

    def on_call(self, name: str, figures: CallFigures) -> None:
        """The figures of a call, on its span."""
        from opentelemetry.trace import get_current_span

        span = get_current_span()
        span.set_attributes({ATTRIBUTE_PREFIX + key: value for key, value in figures.items()})
        if name in GEN_AI_OPERATIONS:
            span.set_attributes(
                {GEN_AI_FIGURES[key]: n for key, n in figures.items() if key in GEN_AI_FIGURES}
            )
            if "finish" in figures:
                span.set_attribute("gen_ai.response.finish_reasons", [str(figures["finish"])])
        if figures.get("repackings"):  # the conventions set it where it is true alone
            span.set_attribute("gen_ai.conversation.compacted", True)

    def on_context(self, context: Context) -> None:
        """Remember what came of it, until the spans of its stages are sent on their way."""
        run = _CURRENT_SPANS.get()
        if run is not None:
            run.context = context

    def _end_assembly(self, run: _AssemblySpans, whole: Any, end: int) -> None:
        """End the spans of the stages, then that of the whole, with what came of the assembly."""
        spans, made = run.close(), run.context
        if made is not None and whole.is_recording():
            recipe = {ATTRIBUTE_PREFIX + "recipe": self.named(made.manifest.recipe)}
            for entry, span in match_spans(made.trace, spans):
                span.set_attributes({**stage_attributes(entry), **recipe})
            figures = context_figures(made)
            whole.set_attributes({ATTRIBUTE_PREFIX + key: n for key, n in figures.items()})
            whole.set_attributes(recipe)
            whole.set_attribute(ATTRIBUTE_PREFIX + "from_cache", not spans)
            if self.content:
                whole.set_attributes({"input.value": made.query, "output.value": made.text})
        for _, span, ended in spans:
            span.end(ended)
        whole.end(end)


class _AssemblySpans:
    """The spans of one assembly's stages, sent when its trace is complete."""

    __slots__ = ("_lock", "_open", "context", "spans")

    def __init__(self) -> None:
        self.context: Context | None = None
        self.spans: list[tuple[str, Any, int]] = []
        self._lock, self._open = Lock(), True

    def add(self, name: str, span: Any, end: int) -> bool:
        """Keep a span that ended; False where the assembly is over."""
        with self._lock:
            if self._open:
                self.spans.append((name, span, end))
            return self._open

    def close(self) -> list[tuple[str, Any, int]]:
        """All that ended, in order; nothing is kept after this."""
        with self._lock:
            self._open = False
            return self.spans


_CURRENT_SPANS: ContextVar[_AssemblySpans | None] = ContextVar("foveate_run", default=None)


def record_error(span: Any, error: BaseException, *, content: bool) -> None:
    """An error on a span: its kind, for its message may quote what was read."""
    from opentelemetry.trace import Status, StatusCode

    kind = type(error).__name__
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, str(error) if content else kind))


def match_spans(
    trace: Iterable[StageTrace], spans: Iterable[tuple[str, Any, int]]
) -> list[tuple[StageTrace, Any]]:
    """Each entry of the trace with its span: those of the last run, where there were several."""
    entries = list(trace)
    names = {entry.stage for entry in entries}
    last = [(name, span) for name, span, _ in spans if name in names][-len(entries) :]
    if [name for name, _ in last] != [entry.stage for entry in entries]:
        return []
    return [(entry, span) for entry, (_, span) in zip(entries, last, strict=True)]


def stage_attributes(entry: StageTrace) -> Attributes:
    """What a stage came to, in numbers: candidates, decisions by reason, the tokens let go."""
    reasons = Counter(d.reason for d in entry.decisions)
    let_go = (d.numbers.get("tokens", 0) for d in entry.decisions if d.action == "dropped")
    tokens = sum(int(n) for n in let_go if not isinstance(n, str))
    notes = {name: n for name, n in entry.notes.items() if not isinstance(n, str)}
    return {
        f"{ATTRIBUTE_PREFIX}stage": entry.stage,
        f"{ATTRIBUTE_PREFIX}before": entry.before,
        f"{ATTRIBUTE_PREFIX}after": entry.after,
        f"{ATTRIBUTE_PREFIX}dropped_tokens": tokens,
        **{f"{ATTRIBUTE_PREFIX}reason.{reason}": count for reason, count in reasons.items()},
        **{f"{ATTRIBUTE_PREFIX}note.{name}": value for name, value in notes.items()},
    }


def context_figures(made: Context) -> Mapping[str, int]:
    """What a context came to, in numbers."""
    chunks, tokens = count_exclusions(made.trace)
    budget = made.budget.documents
    return {
        "candidates": made.trace[0].before if made.trace else 0,
        "blocks": len(made.blocks),
        "tokens": made.token_count,
        "excluded_chunks": chunks,
        "excluded_tokens": tokens,
        **({"budget": budget} if budget is not None else {}),
    }
