"""The layer around all others: each request is counted, timed, traced and logged at its end."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.audit import log_audit
from foveate.service.limits.asgi import Layer
from foveate.service.observe.logs import ACCESS_LOG
from foveate.service.observe.observers import Telemetry
from foveate.service.observe.request_state import REQUEST_STATE, RequestState, log_errors
from foveate.service.observe.tracing import describe_request

UNMATCHED = "unmatched"
QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Polled by machines: counted, but neither traced nor logged by default."""
CLIENT_CLOSED_REQUEST = 499
"""The status, as proxies write it, of a request whose client left before the response."""


def route_template(scope: Scope) -> str:
    """The route of a path: `/v1/documents/{document_id}`, never the path itself.

    By the path alone, so that requests that are refused before routing are counted too.
    """
    for route in scope["app"].state.routes:
        if route.matches(scope)[0] is not Match.NONE:
            return str(route.path_format)
    return UNMATCHED


class TelemetryMiddleware(Layer):
    """The outermost layer."""

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
