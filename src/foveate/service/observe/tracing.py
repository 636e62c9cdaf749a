"""Traces of the service: a span for each request, with those of its assembly, over OTLP/HTTP.

They are enabled by the setting `otlp` or by OpenTelemetry's own variables, which also apply to
sampling, headers, limits and names. Nothing is global: a program that embeds the service keeps its
own setup.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Thread
from typing import TYPE_CHECKING, Any

from foveate._version import __version__
from foveate.answer.ask import Answer
from foveate.core.errors import MissingExtra
from foveate.pipeline.tracing import Tracing, record_error
from foveate.providers.chat import provider_name
from foveate.service.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.trace import Span

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
    try:
        import opentelemetry.exporter.otlp.proto.http
        import opentelemetry.sdk  # noqa: F401
    except ImportError:
        raise MissingExtra("opentelemetry-sdk", "otel") from None


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

    def request_span(self, verb: str, traceparent: str) -> AbstractContextManager[Span]:
        """The span of one request, current until it ends, in the trace that `traceparent` names.

        No other header is read: tracestate and baggage are a caller's text.
        """
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        return self.observers.tracer.start_as_current_span(
            verb,
            context=TraceContextTextMapPropagator().extract({"traceparent": traceparent}),
            kind=SpanKind.SERVER,
            record_exception=False,
            set_status_on_exception=False,
        )

    def answer_span(self, name: str) -> Span:
        """The span of a model's answer. It is never current: events are awaited in many places."""
        from opentelemetry.trace import SpanKind

        about = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider_name(self._models.get(name, "")),
            "gen_ai.request.model": name,
        }
        return self.observers.tracer.start_span(
            "foveate.answer", kind=SpanKind.CLIENT, attributes=about
        )

    def record_answer(self, span: Span, answer: Answer) -> None:
        """Record the tokens, by the model's own counts, and the counts of the check."""
        usage, checked = answer.reply.usage, answer.check
        attributes: dict[str, Any] = {
            "gen_ai.usage.input_tokens": usage.prompt,
            "gen_ai.usage.output_tokens": usage.completion,
            "gen_ai.usage.cache_read.input_tokens": usage.cached,
            "gen_ai.response.finish_reasons": [answer.reply.finish],
            "gen_ai.response.model": answer.reply.model or None,
            "foveate.claims": len(checked.claims),
            "foveate.uncited": len(checked.uncited),
            "foveate.dangling": len(checked.dangling),
            "output.value": answer.text if self.content else None,
        }
        span.set_attributes({name: one for name, one in attributes.items() if one is not None})

    def record_error(self, span: Span | None, error: BaseException) -> None:
        """Record an error on a span."""
        if span is not None:
            record_error(span, error, content=self.content)

    def close(self, patience: float = SHUTDOWN_SECONDS) -> None:
        """Send what is left, where that takes no longer; waits, so not in an event loop.

        Nothing can call off what the exporter has begun, nor need it end for the process to end.
        """
        closing = Thread(target=self._provider.shutdown, name="foveate-traces", daemon=True)
        closing.start()
        closing.join(patience)
        if closing.is_alive():
            log.warning("the last traces are lost: their collector takes too long")


def describe_request(span: Span, verb: str, route: str, status: int, request_id: str) -> None:
    """Name a span by the request; never by its path, which may name a document."""
    from opentelemetry.trace import Status, StatusCode

    span.update_name(f"{verb} {route}")
    span.set_attributes(
        {
            "http.request.method": verb,
            "http.route": route,
            "http.response.status_code": status,
            "foveate.request_id": request_id,
        }
    )
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))
