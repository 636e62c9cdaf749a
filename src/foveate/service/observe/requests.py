"""The layer around all others: each request counted, timed, traced and logged, once, at its end."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from foveate.service.observe.guarded import log_errors
from foveate.service.observe.logs import log_request
from foveate.service.observe.names import method_label
from foveate.service.observe.observers import Telemetry
from foveate.service.observe.request_state import REQUEST_STATE, RequestState
from foveate.service.observe.templates import RouteTemplates
from foveate.service.observe.tracing import RequestSpan

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by machines: counted, but neither traced nor logged by default."""
CLIENT_CLOSED_REQUEST = 499
"""The status of a request whose client left before there was an answer, as proxies write it."""


class TelemetryMiddleware:
    """ASGI: the outermost layer. What is inside needs to know nothing of it."""

    def __init__(self, app: ASGIApp, *, observed: Telemetry, routes: Iterable[str]) -> None:
        self._app, self._telemetry = app, observed
        self._templates = RouteTemplates(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _RequestTelemetry(self._telemetry, scope, self._templates)
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
            request.leave()


class _RequestTelemetry:
    """What is found out about one request while it lasts."""

    def __init__(self, observed: Telemetry, scope: Scope, templates: RouteTemplates) -> None:
        self._telemetry, self._scope, self._templates = observed, scope, templates
        self._path = scope["path"]
        self._verb = method_label(scope["method"])
        self._status, self._bytes = 0, 0
        self._state = RequestState(scope=scope, metrics=observed.metrics)
        self._token = REQUEST_STATE.set(self._state)
        self._span: RequestSpan | None = None
        self._started_at = perf_counter()

    def begin(self) -> None:
        """Count it in, and begin its span."""
        observed = self._telemetry
        observed.metrics.in_flight.inc()
        if observed.traces is not None and self._path not in QUIET_PATHS:
            self._span = observed.traces.start_request_span(self._verb, Headers(scope=self._scope))
            self._state.traces = observed.traces
            self._state.trace_id = self._span.trace_id

    def wrap_send(self, send: Send) -> Send:
        """The same, with status and size noted."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._status = message["status"]
            elif message["type"] == "http.response.body":
                self._bytes += len(message.get("body", b""))
            await send(message)

        return sent

    def record_error(self, error: BaseException) -> None:
        """No layer made an answer of it."""
        self._status = self._status or 500
        if self._span is not None:
            with log_errors():
                self._span.record_error(error)

    def end(self) -> None:
        """Count, trace and log it."""
        seconds = perf_counter() - self._started_at
        status, route = self._status or CLIENT_CLOSED_REQUEST, self._templates.match(self._path)
        metrics = self._telemetry.metrics
        metrics.in_flight.dec()
        metrics.record_request(route, self._verb, status, seconds)
        if self._span is not None:
            self._span.end(self._verb, route, status, self._state.request_id)
        log_request(
            self._state,
            verb=self._verb,
            route=route,
            status=status,
            seconds=seconds,
            bytes=self._bytes,
            quiet=route in QUIET_PATHS,
            content=self._telemetry.content,
        )

    def leave(self) -> None:
        """It is the request at hand no longer."""
        REQUEST_STATE.reset(self._token)
