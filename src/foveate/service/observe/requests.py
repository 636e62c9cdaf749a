"""The layer around all others: each request is counted, timed, traced and logged at its end."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from time import perf_counter

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from foveate.service.limits.asgi import Layer
from foveate.service.observe.logs import ACCESS_LOG
from foveate.service.observe.metrics import method_label
from foveate.service.observe.observers import Telemetry
from foveate.service.observe.request_state import REQUEST_STATE, RequestState, log_errors
from foveate.service.observe.tracing import RequestSpan

UNMATCHED = "unmatched"
MOUNTED_PATHS = ("/playground", "/mcp")
"""Applications inside ours: one name for all their paths."""
QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Polled by machines: counted, but neither traced nor logged by default."""
CLIENT_CLOSED_REQUEST = 499
"""The status, as proxies write it, of a request whose client left before the response."""


class RouteTemplates:
    """Finds the route of a path: `/v1/documents/{id}`, never the path itself.

    It uses the path alone, so that requests that are refused before routing are counted too.
    """

    def __init__(self, routes: Iterable[str]) -> None:
        written = [re.sub(r":\w+}", "}", route) for route in routes]
        self._fixed = {route for route in (*written, "/openapi.json") if "{" not in route}
        self._patterns = [(_route_pattern(route), route) for route in written if "{" in route]

    def match(self, path: str) -> str:
        """The route of a path; `unmatched` for a path of no route."""
        if path in self._fixed:
            return path
        for pattern, template in self._patterns:
            if pattern.fullmatch(path):
                return template
        for name in MOUNTED_PATHS:
            if path == name or path.startswith(f"{name}/"):
                return name
        return UNMATCHED


def _route_pattern(route: str) -> re.Pattern[str]:
    """A parameter may hold slashes, as documents' ids do."""
    parts = re.split(r"\{[^}]*\}", route)
    return re.compile(".+".join(map(re.escape, parts)), re.DOTALL)


class TelemetryMiddleware(Layer):
    """The outermost layer."""

    def __init__(self, app: ASGIApp, *, observed: Telemetry, routes: Iterable[str]) -> None:
        super().__init__(app)
        self._telemetry, self._templates = observed, RouteTemplates(routes)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Measure one request; an error of the measuring is logged."""
        request = _RequestTelemetry(self._telemetry, scope, self._templates)
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
    def __init__(self, observed: Telemetry, scope: Scope, templates: RouteTemplates) -> None:
        self._telemetry, self._scope, self._templates = observed, scope, templates
        self._path = scope["path"]
        self._verb = method_label(scope["method"])
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
        status, route = self._status or CLIENT_CLOSED_REQUEST, self._templates.match(self._path)
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
