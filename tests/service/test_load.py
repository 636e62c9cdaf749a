"""Many clients at once: all are answered, or told when to come again; then all is as before.

`make bench-service` and `make soak-service` go on for longer, and measure.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import httpx
import pytest
from bench.http_load import load, request
from bench.service_load import CANDIDATES, CLIENTS, bodies

from foveate.service.settings import Settings
from http_wire import ask
from service_process import HOST, Service, running, settled
from service_server import serving
from service_soak import LOOKS, soak

FEW = 4


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service in front of which four may wait."""
    folder = tmp_path_factory.mktemp("narrow")
    with running(folder, store="", threads=1, waiting=FEW, seconds=600) as service:
        yield service


def sent(count: int, *, times: int = 1) -> list[bytes]:
    """Requests with candidates, each set of them so many times over under other names."""
    made = []
    for body in bodies(count):
        body["candidates"] = [
            {**one, "id": f"{one['id']}-{n}", "text": f"{one['text']} {n}."}
            for n in range(times)
            for one in body["candidates"]
        ]
        made.append(request("POST", "/v1/assemble", json.dumps(body).encode(), host=HOST))
    return made


def test_as_many_clients_as_are_promised_see_no_error(tmp_path: Path) -> None:
    """F3: 32 clients at once, 50 candidates each: every request is answered with its context."""
    with running(tmp_path, store="") as service:
        seen = load(service.address, sent(40), clients=CLIENTS, most=128)

    assert CANDIDATES == 50
    assert dict(seen.statuses) == {200: 128}
    assert not seen.broken


def test_more_than_may_wait_are_told_when_to_come_again(narrow: Service) -> None:
    """X4: refused at once, while those before them are still worked for; nobody is cut off."""
    seen = load(narrow.address, sent(24, times=8), clients=24, most=24)

    assert set(seen.statuses) == {200, 503}
    assert seen.statuses[200] >= 1 + FEW
    assert seen.unadvised == 0
    assert not seen.broken
    last_refusal = len(seen.order) - 1 - seen.order[::-1].index(503)
    assert 200 in seen.order[last_refusal:], "a refusal waited for all the work before it"


def test_overload_leaves_nothing_behind(narrow: Service) -> None:
    """X4: after it every place is free, every socket closed, and one client sees no refusal."""
    sockets, threads = settled(narrow, 0), narrow.threads()
    over = load(narrow.address, sent(20), clients=CLIENTS, most=200)
    after = load(narrow.address, sent(20), clients=1, most=20)
    figures = ask(narrow.address, "GET", "/metrics").body.decode()

    assert over.statuses[503] > 0
    assert over.statuses.total() == 200
    assert not over.broken
    assert dict(after.statuses) == {200: 20}
    assert settled(narrow, sockets) <= sockets
    assert narrow.threads() < threads + 8  # those that are kept, not one for each request
    assert 'work_running{pool="work"} 0.0' in figures
    assert 'work_waiting{pool="work"} 0.0' in figures


def test_what_is_kept_does_not_grow_with_requests(tmp_path: Path) -> None:
    """D5, X4: once its memories know the texts, a service keeps nothing of further requests."""
    settings = Settings(store=str(tmp_path / "store"), embedder="hashing", cache="memory:1")
    gc.freeze()  # what is counted below are this service's objects alone
    try:
        with serving(settings) as client:
            counts = [held_after(client, once) for once in range(12)]
    finally:
        gc.unfreeze()

    # Each thread makes its own once, and some 200 objects come and go from round to round: a leak
    # is in every round, and so in every six of them.
    assert median(b - a for a, b in zip(counts, counts[6:], strict=False)) < 6 * 100, counts


def held_after(client: httpx.Client, number: int) -> int:
    """How many objects there are after one round of the same requests."""
    for body in bodies(6):
        assert client.post("/v1/assemble", json=body).status_code == 200
    for page in range(6):
        text = f"Page {page} of round {number % 2}: the river turns at stone {page}."
        assert client.put(f"/v1/documents/p{page}", json={"text": text}).status_code == 200
        asked = {"query": f"where does the river turn {page}"}
        assert client.post("/v1/search", json=asked).status_code == 200
        assert client.post("/v1/assemble", json={**asked, "budget": 200}).status_code == 200
    assert client.post("/v1/assemble", json={"query": ""}).status_code == 422
    assert client.get("/v1/documents/nobody").status_code == 404
    gc.collect()
    return len(gc.get_objects())


def test_a_short_soak_is_answered_as_it_should_be(tmp_path: Path) -> None:
    """X4, F3: every kind of request of the long one; `make soak-service` looks at the memory."""
    store = tmp_path / "store"
    with running(tmp_path / "service", store=store, embedder="hashing") as service:
        seen = soak(service, 2 * LOOKS)

    assert len(seen) == LOOKS
    assert min(seen) > 0
