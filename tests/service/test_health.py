"""`/healthz`, `/readyz` and ids of requests."""

from __future__ import annotations

import pytest

from service_server import problem


def test_health_tells_nothing_but_the_state(service):
    """F3: both answer, with their state and nothing else."""
    assert service.get("/healthz").json() == {"status": "ok"}
    assert service.get("/readyz").json() == {"status": "ready"}


def test_an_id_that_is_one_comes_back(service):
    """F7: the caller's own id is on the answer, also of a problem."""
    answer = service.get("/nowhere", headers={"X-Request-Id": "abc-1.2_3"})

    assert answer.status_code == 404
    assert problem(answer)["instance"] == "abc-1.2_3"


@pytest.mark.parametrize("given", ["", "-x", "a b", "a" * 129, "é".encode(), "a\tb", "<script>"])
def test_an_id_that_is_none_is_replaced(service, given):
    """X4: what could forge a line of a log is no id; the answer has one of its own."""
    answer = service.get("/healthz", headers={"X-Request-Id": given})

    assert len(answer.headers["x-request-id"]) == 32
    assert answer.headers["x-request-id"].isalnum()


LOOKS = (
    "/",
    "/playground/",
    "/playground/known.json",
    "/healthz",
    "/readyz",
    "/openapi.json",
    "/v1/recipes",
    "/v1/recipes/default",
    "/v1/recipes/none",
    "/v1/documents",
    "/v1/assemble",
    "/mcp",
    "/nowhere",
)


@pytest.mark.parametrize("path", LOOKS)
def test_head_answers_like_get_without_a_body(service, path):
    """F3: HEAD has the status and the headers of GET, and no body."""
    asked = {"X-Request-Id": "same"}
    got, head = (service.request(verb, path, headers=asked) for verb in ("GET", "HEAD"))
    varying = {"date"}

    assert head.status_code == got.status_code
    assert head.content == b""
    assert {k: v for k, v in head.headers.items() if k not in varying} == {
        k: v for k, v in got.headers.items() if k not in varying
    }
    assert service.get("/healthz").json() == {"status": "ok"}  # the connection goes on
