"""A collector of traces on loopback: takes OTLP over HTTP, reads it with the protocol's types."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


def plain(value: Any) -> Any:
    """An attribute's value as Python's own."""
    return getattr(value, value.WhichOneof("value"))


class Span:
    """A span as it came over the wire."""

    def __init__(self, span: Any, resource: Any) -> None:
        self.name: str = span.name
        self.trace = span.trace_id.hex()
        self.id = span.span_id.hex()
        self.parent = span.parent_span_id.hex()
        self.kind = span.kind
        self.status = (span.status.code, span.status.message)
        self.begin, self.end = span.start_time_unix_nano, span.end_time_unix_nano
        self.attributes = {one.key: plain(one.value) for one in span.attributes}
        self.resource = {one.key: plain(one.value) for one in resource.attributes}
        self.events = len(span.events)


class Collector:
    """Takes traces at `url` until it is closed. Safe to ask from any thread."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.bodies: list[bytes] = []
        self._came = Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            """One export."""

            def do_POST(self) -> None:
                """Read the spans, say that they came."""
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                known = self.path.endswith("/v1/traces")
                if known:
                    collector.paths.append(self.path)
                    collector.take(body, dict(self.headers.items()))
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200 if known else 404)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *said: object) -> None:
                """Nothing."""

        return Handler

    def take(self, body: bytes, headers: dict[str, str]) -> None:
        """What one export brought."""
        request = ExportTraceServiceRequest.FromString(body)
        with self._came:
            self.bodies.append(body)
            self.headers.append(headers)
            for resource in request.resource_spans:
                for scope in resource.scope_spans:
                    self.spans += [Span(span, resource.resource) for span in scope.spans]
            self._came.notify_all()

    def wait(self, enough: Callable[[list[Span]], object], seconds: float = 30) -> list[Span]:
        """The spans, as soon as they are enough; an assertion fails where they never are."""
        with self._came:
            assert self._came.wait_for(lambda: enough(self.spans), seconds), [
                span.name for span in self.spans
            ]
            return list(self.spans)

    def wait_child(
        self, chosen: Callable[[Span], object], parent: str, seconds: float = 60
    ) -> Span:
        """The chosen span, as soon as its parent of that name is here too.

        A parent ends after its children, so that it may come with a later export.
        """

        def found(spans: list[Span]) -> list[Span]:
            parents = {span.id for span in spans if span.name == parent}
            return [span for span in spans if chosen(span) and span.parent in parents]

        return found(self.wait(found, seconds))[0]

    def close(self) -> None:
        """Take no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
