"""The layer around all others: each request is counted, timed, traced and logged at its end."""

from __future__ import annotations

import logging
from time import perf_counter

from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.limits.asgi import Layer
from foveate.service.observe.logs import ACCESS_LOG
from foveate.service.observe.metrics import METHODS, known_label
from foveate.service.observe.observers import Telemetry
from foveate.service.observe.request_state import REQUEST_STATE, RequestState, log_errors
from foveate.service.observe.tracing import RequestSpan

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
        request = _RequestTelemetry(self._telemetry, scope)
        token = REQUEST_STATE.set(request.state)
        with log_errors():
            request.begin()
        try:
            await self._app(scope, receive, request.wrap_send(send))
        except BaseException as error:
            request.record_error(error)
            raise
        finally:
            with log_errors():
                request.end()
            REQUEST_STATE.reset(token)


class _RequestTelemetry:
    def __init__(self, observed: Telemetry, scope: Scope) -> None:
        self._telemetry, self._scope = observed, scope
        self._path = scope["path"]
        self._verb = known_label(scope["method"], METHODS)
        self._status, self._bytes = 0, 0
        self.state = RequestState(scope=scope, metrics=observed.metrics)
        self._span: RequestSpan | None = None
        self._started_at = perf_counter()

    def begin(self) -> None:
        observed = self._telemetry
        observed.metrics.in_flight.inc()
        if observed.traces is not None and self._path not in QUIET_PATHS:
            self._span = RequestSpan(observed.traces, self._verb, Headers(scope=self._scope))
            self.state.traces = observed.traces
            self.state.trace_id = self._span.trace_id

    def wrap_send(self, send: Send) -> Send:
        async def send_and_note(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._status = message["status"]
            elif message["type"] == "http.response.body":
                self._bytes += len(message.get("body", b""))
            await send(message)

        return send_and_note

    def record_error(self, error: BaseException) -> None:
        self._status = self._status or 500
        if self._span is not None:
            with log_errors():
                self._span.record_error(error)

    def end(self) -> None:
        seconds = perf_counter() - self._started_at
        status, route = self._status or CLIENT_CLOSED_REQUEST, route_template(self._scope)
        metrics = self._telemetry.metrics
        metrics.in_flight.dec()
        metrics.record_request(route, self._verb, status, seconds)
        if self._span is not None:
            self._span.end(self._verb, route, status, self.state.request_id)
        fields = {
            "method": self._verb,
            "route": route,
            "status": status,
            "seconds": round(seconds, 6),
            "bytes": self._bytes,
            **self.state.counts,
            **(self.state.content if self._telemetry.content else {}),
        }
        level = logging.DEBUG if route in QUIET_PATHS else logging.INFO
        ACCESS_LOG.log(level, "request", extra={"fields": fields})
