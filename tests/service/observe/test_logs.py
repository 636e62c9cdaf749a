"""Logs of a running service: one line a record, one record a request, no content."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from functools import partial

import pytest

from foveate.service.observe.logs import LogFormatter
from service_process import running
from source_tree import ROOT

BODY = {"query": "How much does the boiler hold?", "budget": 200}
SETTINGS = {"embedder": "hashing", "log_format": "json"}


def test_a_request_is_one_line_of_json(filled_store, tmp_path):
    """F7: which request, in which trace, where, how it went, how long, and counts; no more."""
    trace = "0af7651916cd43dd8448eb211c80319c"
    headers = {"x-request-id": "r-1", "traceparent": f"00-{trace}-b7ad6b7169203331-01"}
    settings = {**SETTINGS, "store": str(filled_store), "otlp": "http://127.0.0.1:9"}
    variables = {"OTEL_EXPORTER_OTLP_TIMEOUT": "1"}
    with running(tmp_path, environment=variables, **settings) as service:
        with service.client() as client:
            answer = client.post("/v1/assemble", json=BODY, headers=headers)
            client.get("/healthz")
            client.get("/v1/documents/secret-name-of-a-page.md")
        code = service.stop()

    records = service.records()
    found = [one for one in records if one["logger"] == "foveate.access"]
    first, second = found
    made = answer.json()
    assert code == 0
    assert {
        "message": "request",
        "level": "info",
        "request_id": "r-1",
        "trace_id": trace,
        "method": "POST",
        "route": "/v1/assemble",
        "status": 200,
        "recipe": "default",
        "cached": 0,
        "tokens": made["token_count"],
        "blocks": len(made["blocks"]),
        "excluded_chunks": made["metrics"]["excluded_chunks"],
        "badge": "hybrid",
    }.items() <= first.items()
    assert first["seconds"] > 0
    assert datetime.fromisoformat(first["time"]).tzinfo == UTC
    assert second["route"].startswith("/v1/documents/{")
    assert second["request_id"] not in {"", "r-1"}
    said = service.said()
    assert "secret-name" not in said
    assert "forty litres" in made["text"]
    assert "forty litres" not in said
    assert BODY["query"] not in said
    assert {"foveate.access", "uvicorn.error"} <= {one["logger"] for one in records}
    assert "uvicorn.access" not in said


def test_a_person_reads_one_plain_line(filled_store, tmp_path):
    """F7: `plain` gives a line a record that a person reads, with the same figures."""
    settings = {**SETTINGS, "store": str(filled_store), "log_format": "plain"}
    with running(tmp_path, log_level="DEBUG", **settings) as service:
        with service.client() as client:
            client.post("/v1/assemble", json=BODY, headers={"x-request-id": "r-9"})
            client.get("/healthz")
        service.stop()

    lines = [line for line in service.said().splitlines() if "/v1/assemble" in line]
    assert len(lines) == 1
    assert re.search(r" INFO    POST /v1/assemble 200 request_id=r-9 seconds=[\d.]+ ", lines[0])
    assert "recipe=default" in lines[0]
    assert " DEBUG   GET /healthz 200" in service.said()


@pytest.fixture
def logged():
    """A logger of each kind, and what a formatter makes of its records."""
    made = []

    def log(formatter: logging.Formatter, name: str, *said: object, **more: object) -> str:
        out = io.StringIO()
        handler = logging.StreamHandler(out)
        handler.setFormatter(formatter)
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        made.append((logger, handler))
        logger.error(*said, **more)
        logger.removeHandler(handler)
        return out.getvalue()

    yield log
    for logger, handler in made:
        logger.removeHandler(handler)


def failure() -> Exception:
    """An error with a cause, both of which quote what they were about."""
    try:
        try:
            int("plantedinner text")
        except ValueError as inner:
            raise RuntimeError("plantedouter text") from inner
    except RuntimeError as error:
        return error


@pytest.mark.parametrize("kind", [LogFormatter, partial(LogFormatter, plain=True)])
def test_an_error_is_its_kind_and_its_place(logged, kind):
    """F7: what errors say is withheld, with their causes' names and the place kept."""
    quiet = logged(kind(content=False), "foveate.service", "a fault", exc_info=failure())
    told = logged(kind(content=True), "foveate.service", "a fault", exc_info=failure())

    assert "planted" not in quiet
    assert "plantedouter" in told
    for line in (quiet, told):
        assert "RuntimeError" in line
        assert "ValueError" in line
        assert "test_logs.py" in line
        assert line.count("\n") == 1


def test_what_other_libraries_say_is_withheld(logged):
    """F7: a foreign record keeps its logger, level and place; its words only with content."""
    quiet = json.loads(logged(LogFormatter(content=False), "asyncio", "task %r", "plantedtask"))
    told = json.loads(logged(LogFormatter(content=True), "asyncio", "task %r", "plantedtask"))
    ours = json.loads(logged(LogFormatter(content=False), "uvicorn.error", "Started server"))

    assert quiet["logger"] == "asyncio"
    assert quiet["level"] == "error"
    assert "planted" not in json.dumps(quiet)
    assert "plantedtask" in told["message"]
    assert ours["message"] == "Started server"


@pytest.mark.parametrize("kind", [LogFormatter, partial(LogFormatter, plain=True)])
def test_no_text_can_forge_a_line(logged, kind):
    """F7: line ends and control characters in a value stay within its line."""
    line = logged(
        kind(content=True),
        "foveate.service",
        "a\nb\r\x1b[31m\u2028c",
        extra={"fields": {"x": "1\n2"}},
    )

    assert line.count("\n") == 1
    assert len(line.splitlines()) == 1
    assert "\x1b" not in line


WARNS = """
import logging, sys, warnings
from foveate.service.observe import logs
from foveate.service.settings import Settings
logs.configure_logging(Settings(store="", log_level="WARNING"))
warnings.warn("plantedwarning")
logging.getLogger("foveate.access").info("request")
logging.getLogger("httpx").info("plantedurl")
"""


def test_warnings_are_records_too():
    """F7: what Python warns of is a line of JSON as well; what is below the level is none."""
    done = subprocess.run(
        [sys.executable, "-c", WARNS],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )

    (line,) = done.stderr.splitlines()
    assert json.loads(line)["logger"] == "py.warnings"
    assert "planted" not in line
