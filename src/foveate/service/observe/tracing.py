"""Traces of the service: a span for each request, with those of its assembly, over OTLP/HTTP.

They are enabled by the setting `otlp` or by OpenTelemetry's own variables, which also apply to
sampling, headers, limits and names. Nothing is global: a program that embeds the service keeps its
own setup.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from threading import Thread
from typing import Any

from foveate._version import __version__
from foveate.answer.ask import Answer
from foveate.core.errors import MissingExtra
from foveate.pipeline.tracing import Tracing, record_error
from foveate.providers.chat import provider_name
from foveate.service.settings import Settings

SHUTDOWN_SECONDS = 2.0
"""Seconds for the last spans to go out, when the service ends."""
ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

log = logging.getLogger("foveate.service")


def is_tracing_enabled(settings: Settings) -> bool:
    """Whether traces have anywhere to go."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if os.environ.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() == "none":
        return False
    return bool(settings.otlp) or any(os.environ.get(name) for name in ENDPOINT_VARIABLES)


def check_installed() -> None:
    """Raise `MissingExtra` if traces are enabled and their packages are missing."""
    from importlib.util import find_spec

    for package in ("opentelemetry", "opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"):
        try:
            found = find_spec(package)
        except ModuleNotFoundError:
            found = None
        if found is None:
            raise MissingExtra("opentelemetry-sdk", "otel")


class Traces:
    """The provider of one process, and what makes spans with it. Closed when the service ends."""

    def __init__(self, settings: Settings, named: Callable[[str], str]) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        about = {"service.version": __version__}
        if not os.environ.get("OTEL_SERVICE_NAME"):
            about["service.name"] = "foveate"
        self._provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
        address = f"{settings.otlp.rstrip('/')}/v1/traces" if settings.otlp else None
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(address)))
        self.content, self._models = settings.log_content, settings.models
        self.observers = Tracing(self._provider, content=self.content, named=named)

    def start_model_span(self, name: str) -> ModelSpan:
        """The span of a model's answer, which comes piece by piece."""
        return ModelSpan(self, name, provider_name(self._models.get(name, "")))

    def close(self, patience: float = SHUTDOWN_SECONDS) -> None:
        """Send what is left, where that takes no longer; waits, so not in an event loop.

        Nothing can call off what the exporter has begun, nor need it end for the process to end.
        """
        closing = Thread(target=self._provider.shutdown, name="foveate-traces", daemon=True)
        closing.start()
        closing.join(patience)
        if closing.is_alive():
            log.warning("the last traces are lost: their collector takes too long")


class _Span:
    def __init__(self, traces: Traces, name: str, **options: Any) -> None:
        self._traces = traces
        self._span = traces.observers.tracer.start_span(name, **options)

    def record_error(self, error: BaseException) -> None:
        """Record an error that no layer answered."""
        record_error(self._span, error, content=self._traces.content)


class RequestSpan(_Span):
    """The span of one request, current until it ends, in the trace that `traceparent` names."""

    def __init__(self, traces: Traces, verb: str, headers: Any) -> None:
        from opentelemetry import context, trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        # Ids alone: tracestate and baggage are a caller's text.
        given = {"traceparent": headers.get("traceparent", "")}
        outer = TraceContextTextMapPropagator().extract(given)
        super().__init__(traces, verb, context=outer, kind=trace.SpanKind.SERVER)
        self._token = context.attach(trace.set_span_in_context(self._span, outer))

    @property
    def trace_id(self) -> str:
        """The trace's id, 32 hex digits."""
        return f"{self._span.get_span_context().trace_id:032x}"

    def end(self, verb: str, route: str, status: int, request_id: str) -> None:
        """End it with the attributes of the request; never its path, which may name a document."""
        from opentelemetry import context
        from opentelemetry.trace import Status, StatusCode

        context.detach(self._token)
        self._span.update_name(f"{verb} {route}")
        attributes: dict[str, str | int] = {
            "http.request.method": verb,
            "http.route": route,
            "http.response.status_code": status,
            "foveate.request_id": request_id,
        }
        self._span.set_attributes(attributes)
        if status >= 500:
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


class ModelSpan(_Span):
    """The span of a model's answer. It is never current: events are awaited in many places."""

    def __init__(self, traces: Traces, name: str, provider: str) -> None:
        from opentelemetry import trace

        about = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": name,
        }
        super().__init__(traces, "foveate.answer", kind=trace.SpanKind.CLIENT, attributes=about)

    def record_answer(self, answer: Answer) -> None:
        """Record the tokens, by the model's own counts, and the counts of the check."""
        usage, checked = answer.reply.usage, answer.check
        counts = {
            "gen_ai.usage.input_tokens": usage.prompt,
            "gen_ai.usage.output_tokens": usage.completion,
            "gen_ai.usage.cache_read.input_tokens": usage.cached,
            "foveate.claims": len(checked.claims),
            "foveate.uncited": len(checked.uncited),
            "foveate.dangling": len(checked.dangling),
        }
        self._span.set_attributes({name: n for name, n in counts.items() if n is not None})
        self._span.set_attribute("gen_ai.response.finish_reasons", [answer.reply.finish])
        if answer.reply.model:
            self._span.set_attribute("gen_ai.response.model", answer.reply.model)
        if self._traces.content:
            self._span.set_attribute("output.value", answer.text)

    def end(self) -> None:
        """End it."""
        self._span.end()
