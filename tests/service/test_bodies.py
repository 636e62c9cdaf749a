"""Bodies, paths and connections that nobody should send, against a service of its own process.

Every answer is a proper problem, or the connection is closed; nothing goes to the log as a fault;
afterwards the service answers as before, byte for byte, and holds nothing open.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from hostile_requests import (
    ASSEMBLE,
    GOOD,
    Case,
    malformed,
    misplaced,
    mistyped,
    post,
)
from http_wire import Answer, Wire, ask, request
from service_process import Service, running, settled

BODY = 8 << 20
INTERNAL = ("Traceback", ".py", "site-packages", "foveate.core", "pydantic", "sqlite", "0x7f")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a store."""
    folder = tmp_path_factory.mktemp("hostile")
    settings: dict[str, Any] = {
        "store": str(folder / "store"),
        "embedder": "hashing",
        "body_bytes": BODY,
        "drain": 0,
    }
    with running(folder, **settings) as service:
        page = {"text": "The boiler has two bar. The pump starts at one bar.", "title": "Boiler"}
        assert ask(service.address, "PUT", "/v1/documents/boiler", page).status == 200
        yield service


def reference(service: Service) -> bytes:
    """What a good request is answered; the same each time, but for its id and its time."""
    answer = ask(service.address, "POST", ASSEMBLE, GOOD)
    assert answer.status == 200
    return re.sub(rb',"when":"[^"]*"', b"", answer.body)


def tell(service: Service, case: Case) -> Answer | None:
    """Send it; what comes back."""
    with Wire(service.address) as wire:
        wire.send(case.data)
        return wire.answer()


def faults(service: Service, since: int) -> str:
    """What a fault of ours left in the log."""
    said = service.said(since)
    return said if "Traceback" in said or "Exception in" in said else ""


def wrong_with(answer: Answer | None, right: Iterable[int]) -> str:
    """What is wrong with an answer; empty where nothing is."""
    if answer is None:
        return "" if 0 in right else "closed"
    if answer.status not in right:
        return f"{answer.status}: {answer.body[:200]!r}"
    if answer.status < 400:
        return ""
    if answer.headers.get("content-type") != "application/problem+json":
        return f"{answer.status} as {answer.headers.get('content-type')}"
    said = answer.json()
    if said["status"] != answer.status or said["instance"] != answer.headers["x-request-id"]:
        return f"{said} with {answer.headers}"
    if not said["detail"] or any(word in answer.body.decode() for word in INTERNAL):
        return f"says {said['detail']!r}"
    return ""


def check_all(service: Service, cases: Iterable[Case]) -> None:
    """Each is answered as it should be; then the service is as it was."""
    sockets, before, place = settled(service, 0), reference(service), service.place()

    wrong = {
        case.name: said for case in cases if (said := wrong_with(tell(service, case), case.right))
    }

    assert wrong == {}
    assert reference(service) == before
    assert settled(service, sockets) <= sockets
    assert faults(service, place) == ""


def bodies_of(service: Service) -> dict[str, tuple[str, str, list[str]]]:
    """By operation: (method, path, fields of its body), for all that take JSON."""
    described = ask(service.address, "GET", "/openapi.json").json()
    found = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            if "application/json" in content and "/mcp" not in path:
                name = content["application/json"]["schema"]["$ref"].rpartition("/")[2]
                fields = list(described["components"]["schemas"][name]["properties"])
                place = path.replace("{id}", "boiler").replace("{document_id}", "boiler")
                found[operation["operationId"]] = (method.upper(), place, fields)
    return found


def at(case: Case, method: str, path: str) -> Case:
    """The same sent to another endpoint."""
    first = f"POST {ASSEMBLE} ".encode()
    return Case(case.name, case.data.replace(first, f"{method} {path} ".encode(), 1), case.right)


def test_what_is_no_json_is_a_problem_everywhere(hostile: Service) -> None:
    """X1, X2, F3: on every endpoint that takes a body."""
    cases = [
        Case(f"{name}: {case.name}", at(case, method, path).data, case.right)
        for name, (method, path, _) in bodies_of(hostile).items()
        for case in malformed()
    ]

    assert len(cases) > 100
    check_all(hostile, cases)


def test_wrong_types_are_refused_everywhere(hostile: Service) -> None:
    """X1, X2, F3, X4: every field of every body; none is a file, an address, or a fault of ours."""
    cases = []
    for name, (method, path, fields) in bodies_of(hostile).items():
        for case in mistyped([*fields, "another"]):
            right = (*case.right, 403, 404, 409)
            cases.append(Case(f"{name}: {case.name}", at(case, method, path).data, right))

    assert len(cases) > 500
    check_all(hostile, cases)


def test_paths_and_methods_that_lead_nowhere(hostile: Service) -> None:
    """X1, X4: nothing outside the API is reached, whatever the path says."""
    check_all(hostile, misplaced())


def test_ten_thousand_candidates(hostile: Service) -> None:
    """X2: as many as are allowed are assembled, one more is refused."""
    many = [{"id": f"c{n}", "text": f"Stone {n} lies {n % 97} feet deep."} for n in range(10_001)]
    fits = {**GOOD, "candidates": many[:-1], "recipe": "naive"}
    sent = [json.dumps({**fits, "candidates": chosen}).encode() for chosen in (many[:-1], many)]
    check_all(
        hostile,
        [Case("10,000", post(sent[0]), (200,)), Case("10,001", post(sent[1]), (400, 413, 422))],
    )


def test_cut_connections_leave_nothing_behind(hostile: Service) -> None:
    """X2: cut in the head, in the body, while it works, and while it answers."""
    sockets, before = settled(hostile, 0), reference(hostile)
    threads, place = hostile.threads(), hostile.place()
    data = post(json.dumps(GOOD).encode())
    cuts = [5, 40, len(data) // 2, len(data) - 1, len(data)]
    for cut in cuts * 8:
        wire = Wire(hostile.address)
        wire.send(data[:cut])
        wire.reset()

    assert reference(hostile) == before
    assert settled(hostile, sockets) <= sockets
    assert hostile.threads() <= threads + 1
    assert faults(hostile, place) == ""


def test_requests_sent_ahead_are_answered_in_order(hostile: Service) -> None:
    """F3: many at once on one connection, large and small."""
    sent = []
    for number in range(20):
        headers = {"X-Request-Id": f"ahead-{number}"}
        padded = json.dumps(GOOD).encode() + b" " * (number * 10_000)
        sent.append(
            post(padded, headers) if number % 3 else request("GET", "/readyz", None, headers)
        )
    with Wire(hostile.address) as wire:
        sender = threading.Thread(target=wire.send, args=(b"".join(sent),))
        sender.start()
        answers = [wire.answer() for _ in sent]
        sender.join()

    seen = [(a.status, a.headers["x-request-id"]) for a in answers if a is not None]
    assert seen == [(200, f"ahead-{number}") for number in range(20)]
