"""What observes one process of a service: steps of assemblies, and requests from start to end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from time import perf_counter

from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate import plugins
from foveate.core.types import Context
from foveate.pipeline.observers import (
    ASSEMBLY_STEPS,
    CALL_STEPS,
    CallFigures,
    Observers,
    combine_observers,
)
from foveate.pipeline.tracing import context_figures
from foveate.service.app_state import AnswerSlots, AppState
from foveate.service.audit import log_audit
from foveate.service.limits.asgi import Layer
from foveate.service.observe.logs import ACCESS_LOG
from foveate.service.observe.metrics import Metrics
from foveate.service.observe.request_state import REQUEST_STATE, RequestState, log_errors
from foveate.service.observe.tracing import (
    Traces,
    check_installed,
    describe_request,
    is_tracing_enabled,
)
from foveate.service.settings import Settings
from foveate.service.worker_pool import WorkerPool, deadline_observer, outside_observer

_STAGES: ContextVar[list[str]] = ContextVar("foveate_stages")
UNMATCHED = "unmatched"
QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Polled by machines: counted, but neither traced nor logged by default."""
CLIENT_CLOSED_REQUEST = 499
"""The status, as proxies write it, of a request whose client left before the response."""


class StepObserver:
    """Measures the steps of every assembly and search, for metrics and log lines."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time one step."""
        own = _STAGES.set([]) if name in ASSEMBLY_STEPS else None
        if own is None and name not in CALL_STEPS:
            _STAGES.get([]).append(name)
        begun = perf_counter()
        try:
            yield
        except BaseException:
            self.metrics.of("step_failures", step=name).inc()
            raise
        finally:
            self.metrics.of("step_seconds", step=name).observe(perf_counter() - begun)
            if own is not None:
                _STAGES.reset(own)

    def on_call(self, name: str, figures: CallFigures) -> None:
        """Record a search, or whether the cache had the context."""
        if name == "recall":
            self.metrics.of("cache_requests", outcome="hit" if figures["hit"] else "miss").inc()
        elif name == "search":
            exact = "yes" if figures.get("exact") else "no"
            self.metrics.of("searches", badge=figures["badge"], exact=exact).inc()
            if (seen := REQUEST_STATE.get(None)) is not None:
                seen.counts.update(badge=figures["badge"], found=figures["candidates"])

    def on_context(self, context: Context) -> None:
        """Record a returned context; without a stage it is from the cache."""
        cached = not _STAGES.get([])
        self.metrics.record_context(context, cached=cached)
        if (seen := REQUEST_STATE.get(None)) is not None:
            recipe = self.metrics.label("recipe", context.manifest.recipe)
            seen.counts.update(recipe=recipe, cached=int(cached), **context_figures(context))
            seen.content.update(query=context.query, text=context.text)


class Telemetry:
    """The metrics and traces of a service, from before its first request to after its last.

    `observers` observe every search and assembly. `content`: whether logs and spans may hold
    questions and texts. `audit`: whether who asked is logged. `recipes`: their names in labels.
    """

    def __init__(self, settings: Settings, recipes: Iterable[str]) -> None:
        self._settings = settings
        self.content, self.audit = settings.log_content, settings.log_audit
        stages = plugins.component_registry().stages
        self.metrics = Metrics(recipes=set(recipes), stages=stages, models=settings.models)
        self.traces: Traces | None = None
        self.observers: Observers | None = combine_observers(
            deadline_observer, outside_observer, StepObserver(self.metrics)
        )
        if is_tracing_enabled(settings):
            check_installed()

    @asynccontextmanager
    async def lifespan(self, state: AppState) -> AsyncIterator[None]:
        """Watch what the service holds, as long as it serves."""
        if is_tracing_enabled(self._settings):
            self.traces = Traces(self._settings, partial(self.metrics.label, "recipe"))
            self.observers = combine_observers(self.observers, self.traces.observers)
        state.observers = self.observers
        for pool in vars(state).values():
            if isinstance(pool, WorkerPool | AnswerSlots):
                pool.on_change = log_errors()(partial(self.metrics.record_pool, pool.name))
        try:
            yield
        finally:
            if self.traces is not None:
                await asyncio.to_thread(self.traces.close)


def route_template(scope: Scope) -> str:
    """The route of a path: `/v1/documents/{document_id}`, never the path itself.

    By the path alone, so that requests that are refused before routing are counted too.
    """
    for route in scope["app"].state.routes:
        if route.matches(scope)[0] is not Match.NONE:
            return str(route.path_format)
    return UNMATCHED


class TelemetryMiddleware(Layer):
    """The layer around all others: a request is counted, timed, traced and logged at its end."""

    def __init__(self, app: ASGIApp, *, observed: Telemetry) -> None:
        super().__init__(app)
        self._telemetry = observed

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Measure one request; an error of the measuring is logged."""
        metrics, traces = self._telemetry.metrics, self._telemetry.traces
        state = RequestState(scope=scope, metrics=metrics, traces=traces)
        state.verb = metrics.label("method", scope["method"])
        token = REQUEST_STATE.set(state)
        begun = perf_counter()

        async def send_and_note(message: Message) -> None:
            if message["type"] == "http.response.start":
                state.status = message["status"]
            elif message["type"] == "http.response.body":
                state.bytes += len(message.get("body", b""))
            await send(message)

        with log_errors():
            metrics.of("requests_in_flight").inc()
        try:
            with self._span(state):
                try:
                    await self._app(scope, receive, send_and_note)
                except BaseException as error:
                    state.status = state.status or 500
                    if traces is not None:
                        traces.record_error(state.span, error)
                    raise
                finally:
                    with log_errors():
                        self._end(state, perf_counter() - begun)
        finally:
            REQUEST_STATE.reset(token)

    @contextmanager
    def _span(self, state: RequestState) -> Iterator[None]:
        if state.traces is None or state.scope["path"] in QUIET_PATHS:
            yield
            return
        traceparent = Headers(scope=state.scope).get("traceparent", "")
        with state.traces.request_span(state.verb, traceparent) as state.span:
            yield

    def _end(self, state: RequestState, seconds: float) -> None:
        status, route = state.status or CLIENT_CLOSED_REQUEST, route_template(state.scope)
        metrics = self._telemetry.metrics
        metrics.of("requests_in_flight").dec()
        metrics.of("requests", route=route, method=state.verb, status=status).inc()
        metrics.of("request_seconds", route=route).observe(seconds)
        if state.span is not None:
            describe_request(state.span, state.verb, route, status, state.request_id)
        fields = {
            "method": state.verb,
            "route": route,
            "status": status,
            "seconds": round(seconds, 6),
            "bytes": state.bytes,
            **state.counts,
            **(state.content if self._telemetry.content else {}),
        }
        level = logging.DEBUG if route in QUIET_PATHS else logging.INFO
        ACCESS_LOG.log(level, "request", extra={"fields": fields})
        if self._telemetry.audit:
            log_audit(state.scope, route, status)
