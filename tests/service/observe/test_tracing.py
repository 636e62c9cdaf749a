"""Traces of a running service, received by a collector on loopback."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Wire

from foveate.core.errors import MissingExtra
from foveate.service.app import create_app
from foveate.service.observe.tracing import Traces
from foveate.service.settings import Settings
from otlp_collector import Collector, Span
from service_server import serving

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
BODY = {"query": "How much does the boiler hold?", "budget": 200}


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector of our own."""
    made = Collector()
    yield made
    made.close()


def of_request(collector: Collector, settings: Settings, **headers: str) -> list[Span]:
    """The spans of one assembly, by the time that the service has ended."""
    with serving(settings) as client:
        answer = client.post("/v1/assemble", json=BODY, headers=headers)
        assert answer.status_code == 200, answer.text
        client.get("/healthz")
        client.get("/metrics")
    return collector.wait(lambda spans: any(span.name == "POST /v1/assemble" for span in spans))


def test_a_request_is_one_trace_with_a_span_a_stage(collector, filled_store):
    """F7: the server's span stands in the caller's trace, the assembly in it, stages in that."""
    settings = Settings(store=str(filled_store), embedder="hashing", otlp=collector.url)

    spans = of_request(
        collector, settings, traceparent=f"00-{TRACE}-{PARENT}-01", **{"x-request-id": "r-17"}
    )

    assert {span.trace for span in spans} == {TRACE}  # health and metrics leave no spans
    server = next(span for span in spans if span.kind == Wire.SPAN_KIND_SERVER)
    assert server.parent == PARENT
    assert server.attributes == {
        "http.request.method": "POST",
        "http.route": "/v1/assemble",
        "http.response.status_code": 200,
        "foveate.request_id": "r-17",
    }
    assert server.resource["service.name"] == "foveate"
    whole = next(span for span in spans if span.name == "foveate.assemble")
    assert whole.parent == server.id
    inside = {span.name for span in spans if span.parent == whole.id}
    assert {"foveate.embed", "foveate.search", "foveate.pack", "foveate.render"} <= inside
    pack = next(span for span in spans if span.name == "foveate.pack")
    assert pack.attributes["foveate.recipe"] == "default"
    assert pack.attributes["foveate.before"] >= pack.attributes["foveate.after"] > 0
    assert server.begin <= whole.begin <= pack.begin <= pack.end <= whole.end <= server.end


def test_a_caller_that_does_not_sample_is_not_traced(collector, filled_store):
    """F7: the flag of the caller's trace holds, as OpenTelemetry has it."""
    settings = Settings(store=str(filled_store), embedder="hashing", otlp=collector.url)
    with serving(settings) as client:
        client.post("/v1/assemble", json=BODY, headers={"traceparent": f"00-{TRACE}-{PARENT}-00"})
        client.post("/v1/assemble", json=BODY, headers={"traceparent": "00-not-a-trace"})

    spans = collector.wait(bool)

    assert TRACE not in {span.trace for span in spans}
    assert len({span.trace for span in spans}) == 1


def test_opentelemetrys_own_variables_hold(collector, filled_store, monkeypatch):
    """F7: address, headers and the service's name come from the environment as everywhere."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-own=mine")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "contexts")

    spans = of_request(collector, Settings(store=str(filled_store), embedder="hashing"))

    assert {span.resource["service.name"] for span in spans} == {"contexts"}
    assert {found.get("x-own") for found in collector.headers} == {"mine"}


PAGE = Path(__file__).resolve().parents[3] / "docs" / "observability.md"
LANGFUSE = "Basic " + b64encode(b"pk-lf-1:sk-lf-2").decode()


@pytest.mark.parametrize(
    ("title", "path", "header"),
    [
        ("### Phoenix", "/v1/traces", "Bearer KEY"),
        ("### Langfuse", "/api/public/otel/v1/traces", LANGFUSE),
    ],
)
def test_traces_go_where_the_page_says(collector, filled_store, title, path, header):
    """F7: the variables of docs/observability.md as a shell sets them, the address on loopback."""
    section = PAGE.read_text(encoding="utf-8").split(f"{title}\n")[1].split("\n## ")[0]
    script = section.split("```sh\n")[1].split("```")[0].replace("foveate serve", "env")
    done = subprocess.run(
        ["/bin/sh", "-c", re.sub(r"https?://[^/\s\"]+", collector.url, script)],
        env={"PATH": os.environ["PATH"], "PUBLIC": "pk-lf-1", "SECRET": "sk-lf-2"},
        capture_output=True,
        text=True,
        check=True,
    )
    told = dict(line.split("=", 1) for line in done.stdout.splitlines() if "OTEL" in line)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in told.items():
            patch.setenv(name, value)
        settings = Settings(store=str(filled_store), embedder="hashing", log_content=True)
        spans = of_request(collector, settings)

    assert set(collector.paths) == {path}
    assert {headers["authorization"] for headers in map(lowered, collector.headers)} == {header}
    whole = next(span for span in spans if span.name == "foveate.assemble")
    assert "boiler" in whole.attributes["output.value"]


def lowered(headers: dict[str, str]) -> dict[str, str]:
    """Headers by their names in small letters."""
    return {name.lower(): value for name, value in headers.items()}


@pytest.mark.parametrize(
    ("name", "value"), [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")]
)
def test_traces_can_be_turned_off(collector, filled_store, monkeypatch, name, value):
    """F7: OpenTelemetry's switches turn it off, whatever address is given."""
    monkeypatch.setenv(name, value)
    settings = Settings(store=str(filled_store), embedder="hashing", otlp=collector.url)

    with serving(settings) as client:
        assert client.post("/v1/assemble", json=BODY).status_code == 200

    assert collector.spans == []


def test_a_problem_is_a_status_and_a_fault_an_error(collector, filled_store):
    """F7: what the caller did wrong is no error of the span; its stages name what was raised."""
    settings = Settings(store=str(filled_store), embedder="hashing", otlp=collector.url)
    with serving(settings) as client:
        small = {**BODY, "budget": 3}
        assert client.post("/v1/assemble", json=small).status_code == 422

    spans = collector.wait(lambda spans: any(s.name.startswith("POST") for s in spans))
    server = next(span for span in spans if span.kind == Wire.SPAN_KIND_SERVER)
    whole = next(span for span in spans if span.name == "foveate.assemble")
    assert server.attributes["http.response.status_code"] == 422
    assert server.status[0] == 0
    assert whole.attributes["error.type"] == "BudgetTooSmall"
    assert whole.status == (2, "BudgetTooSmall")
    assert whole.events == 0


def test_traces_without_the_extra_are_refused_at_the_start(monkeypatch):
    """F7, X1: an address for traces and nothing to make them with: said before anything listens."""
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http", None)

    with pytest.raises(MissingExtra, match=r"foveate\[otel\]"):
        create_app(Settings(store="", otlp="http://127.0.0.1:9"))
    assert create_app(Settings(store="")).title == "foveate"


def test_a_collector_that_hangs_holds_up_the_end_for_a_moment_only(
    filled_store, caplog, monkeypatch
):
    """F7, X3: the last spans are given up where their collector takes them and says nothing."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}"
        traces = Traces(Settings(store=str(filled_store), otlp=url), str)
        with traces.request_span("GET", ""):
            pass
        with caplog.at_level("WARNING", "foveate.service"):
            traces.close(0.05)
        taken, _ = mute.accept()
        taken.close()
    for thread in threading.enumerate():  # it tries again at random times, which other tests see
        if thread.name == "foveate-traces":
            thread.join(60)

    assert [one.getMessage() for one in caplog.records if one.name == "foveate.service"] == [
        "the last traces are lost: their collector takes too long"
    ]
