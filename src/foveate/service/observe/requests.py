"""The layer around all others: each request counted, timed, traced and logged, once, at its end."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from foveate.service.observe.logs import requested
from foveate.service.observe.names import method
from foveate.service.observe.observed import Observed
from foveate.service.observe.seen import SEEN, Seen
from foveate.service.observe.templates import Templates
from foveate.service.observe.tracing import RequestSpan
from foveate.service.observe.unbroken import unbroken

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by machines: counted, but neither traced nor logged by default."""
GONE = 499
"""The status of a request whose client left before there was an answer, as proxies write it."""


class Watched:
    """ASGI: the outermost layer. What is inside needs to know nothing of it."""

    def __init__(self, app: ASGIApp, *, observed: Observed, routes: Iterable[str]) -> None:
        self._app, self._observed = app, observed
        self._templates = Templates(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _Request(self._observed, scope, self._templates)
        with unbroken():
            request.begin()
        try:
            await self._app(scope, receive, request.sending(send))
        except BaseException as error:
            request.failed(error)
            raise
        finally:
            with unbroken():
                request.end()
            request.leave()


class _Request:
    """What is found out about one request while it lasts."""

    def __init__(self, observed: Observed, scope: Scope, templates: Templates) -> None:
        self._observed, self._scope, self._templates = observed, scope, templates
        self._path = scope["path"]
        self._verb = method(scope["method"])
        self._status, self._bytes = 0, 0
        self._seen = Seen(scope=scope, metrics=observed.metrics)
        self._before = SEEN.set(self._seen)
        self._span: RequestSpan | None = None
        self._begun = perf_counter()

    def begin(self) -> None:
        """Count it in, and begin its span."""
        observed = self._observed
        observed.metrics.in_flight.inc()
        if observed.traces is not None and self._path not in QUIET:
            self._span = observed.traces.begin(self._verb, Headers(scope=self._scope))
            self._seen.traces = observed.traces
            self._seen.trace_id = self._span.trace_id

    def sending(self, send: Send) -> Send:
        """The same, with status and size noted."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._status = message["status"]
            elif message["type"] == "http.response.body":
                self._bytes += len(message.get("body", b""))
            await send(message)

        return sent

    def failed(self, error: BaseException) -> None:
        """No layer made an answer of it."""
        self._status = self._status or 500
        if self._span is not None:
            with unbroken():
                self._span.failed(error)

    def end(self) -> None:
        """Count, trace and log it."""
        seconds = perf_counter() - self._begun
        status, route = self._status or GONE, self._templates.of(self._path)
        metrics = self._observed.metrics
        metrics.in_flight.dec()
        metrics.request(route, self._verb, status, seconds)
        if self._span is not None:
            self._span.end(self._verb, route, status, self._seen.request_id)
        requested(
            self._seen,
            verb=self._verb,
            route=route,
            status=status,
            seconds=seconds,
            bytes=self._bytes,
            quiet=route in QUIET,
            content=self._observed.content,
        )

    def leave(self) -> None:
        """It is the request at hand no longer."""
        SEEN.reset(self._before)
