"""More requests at once than there are places, and clients that hold places without using them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import takewhile
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from command_line import CHUNKS, QUERY
from foveate.service.auth.caller import Caller
from foveate.service.limits import body as unread_body
from foveate.service.limits.connections import MIN_BYTES_READ, Connection
from foveate.service.limits.rates import ConcurrencyLimit
from foveate.service.settings import Settings
from http_wire import Wire, head, wire
from service_keys import by, put
from service_server import problem, serving

pytestmark = pytest.mark.anyio

ASKED = {"query": QUERY, "candidates": CHUNKS[:1]}
PATH = "/v1/assemble"


def held(client: httpx.Client, stack: ExitStack, token: str) -> Wire:
    """A request that has its place, and whose body has yet to come; 100 says it has the place."""
    key, length = f"Authorization: Bearer {token}", "Content-Length: 9"
    raw = stack.enter_context(wire(client))
    raw.send(head(f"POST {PATH}", key, length, "Expect: 100-continue"))
    assert raw.status() == 100
    return raw


@pytest.fixture
def crowded(tmp_path) -> Iterator[tuple[httpx.Client, str, str]]:
    """A service with three places, two for one key; two keys."""
    keys = tmp_path / "keys"
    tokens = put(keys), put(keys)
    settings = Settings(store="", keys=keys, key_requests=2, requests=3)
    with serving(settings) as client:
        yield client, *tokens


def test_one_key_takes_no_more_than_its_places(crowded):
    """X4: 429 while its requests are under way, at once; others are served; then it is again."""
    client, greedy, other = crowded
    with ExitStack() as stack:
        waiting = [held(client, stack, greedy) for _ in range(2)]
        refused = [client.post(PATH, json=ASKED, headers=by(greedy)) for _ in range(10)]
        served = client.post(PATH, json=ASKED, headers=by(other))
        health = client.get("/readyz")
        for raw in waiting:
            raw.send(b"{}       ").answer()
        again = client.post(PATH, json=ASKED, headers=by(greedy))

    assert {answer.status_code for answer in refused} == {429}
    assert {answer.headers["retry-after"] for answer in refused} == {"1"}
    assert problem(refused[0])["type"] == "urn:foveate:problem:too-many"
    assert [served.status_code, health.status_code, again.status_code] == [200, 200, 200]


def test_all_callers_together_take_no_more_than_all_places(crowded):
    """X4: 503 over that; connections that are cut give their places back."""
    client, one, other = crowded
    with ExitStack() as stack:
        for token in (one, one, other):
            held(client, stack, token)
        refused = client.post(PATH, json=ASKED, headers=by(other))
    tries = (client.post(PATH, json=ASKED, headers=by(other)) for _ in range(1_000))
    waited = [*takewhile(lambda answer: answer.status_code == 503, tries)]
    after = client.post(PATH, json=ASKED, headers=by(other))

    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "1"
    assert len(waited) < 1_000
    assert after.status_code == 200


def test_idle_connections_displace_one_another_and_nobody_else(tmp_path):
    """X2, X4: of many silent connections the longest silent leaves; who asks is always served."""
    with serving(Settings(store="", connections=10, header_seconds=60)) as client:
        before = client.get("/healthz").status_code
        with ExitStack() as stack:
            silent: list[Wire] = []
            during = []
            for number in range(40):
                silent.append(stack.enter_context(wire(client)).send(b"GET /hea"))
                with wire(client) as asking:
                    during.append(asking.send(head("GET /healthz")).answer().status)
                if number >= 20:
                    assert silent[number - 20].ended()
            last = silent[-1].send(b"lthz HTTP/1.1\r\nHost: localhost\r\n\r\n").answer()

    assert before == 200
    assert set(during) == {200}
    assert last.status == 200


def test_a_client_that_takes_no_answer_is_dropped():
    """X2, X4: an answer that nobody reads is given up; one that is read arrives whole."""
    candidates = [{"text": f"{number} " + "x" * 200_000} for number in range(40)]
    asked = json.dumps({"query": QUERY, "candidates": candidates, "bundle": True}).encode()
    sent = head(f"POST {PATH}", "Content-Type: application/json", f"Content-Length: {len(asked)}")
    settings = Settings(store="", write_seconds=0.3)
    with serving(settings) as client, wire(client, buffer=4_096) as lazy, wire(client) as other:
        lazy.send(sent, asked)
        whole = other.send(sent, asked).answer()
        health = client.get("/healthz").status_code
        dropped = lazy.broken_off()

    assert whole.status == 200
    assert len(whole.body) > 8_000_000
    assert health == 200
    assert dropped


async def test_strangers_take_a_part_of_the_places():
    """X4: who takes the page's files for ever leaves places to those who have a key."""
    answered: list[int] = []

    inside, leave = asyncio.Semaphore(0), asyncio.Event()

    async def slow(scope, receive, send):
        inside.release()
        await leave.wait()

    async def send(message):
        if message["type"] == "http.response.start":
            answered.append(message["status"])

    def scope(address: str, caller: Caller | None = None) -> dict[str, Any]:
        state = {"caller": caller, "request_id": "r"}
        client = (address, 1)
        return {"type": "http", "path": "/playground/x", "state": state, "client": client}

    layer = ConcurrencyLimit(slow, each=8, all=8)
    tasks = [asyncio.create_task(layer(scope(f"192.0.2.{n}"), None, send)) for n in range(2)]
    for _ in tasks:
        await inside.acquire()
    await layer(scope("192.0.2.9"), None, send)
    known = Caller(key_id="k", tenant="default", principals=(), scopes=frozenset())
    tasks.append(asyncio.create_task(layer(scope("192.0.2.9", known), None, send)))
    await inside.acquire()
    leave.set()
    await asyncio.gather(*tasks)
    again = asyncio.create_task(layer(scope("192.0.2.9"), None, send))
    await inside.acquire()
    await again

    assert answered == [503]


class Slow(Connection):
    """A connection alone, to a client that takes so many bytes of its answer each time."""

    def __init__(self, unsent: int, takes: int) -> None:
        self._settings, self._timers, self._most_unsent = Settings(), {}, 0
        self.unsent, self.takes, self.looks, self.dropped = unsent, takes, 0, False
        self.transport: Any = SimpleNamespace(get_write_buffer_size=lambda: self.unsent)

    def _start_timer(self, name: str, seconds: float, call: Callable[[], None]) -> None:
        self._timers[name] = None
        self.looks += 1
        self.unsent = max(0, self.unsent - self.takes)
        call()

    def _reset_connection(self) -> None:
        self.dropped = True


@pytest.mark.parametrize(
    ("unsent", "takes", "dropped", "looks"),
    [
        (10_000_000, 500_000, False, 20),
        (10_000_000, 499_999, True, 1),
        (10_000_000, 20_000, True, 1),
        (100_000, MIN_BYTES_READ, False, 7),
        (100_000, MIN_BYTES_READ - 1, True, 1),
        (10_000, 9_999, True, 1),
        (10_000, 10_000, False, 1),
    ],
)
def test_an_answer_is_taken_in_twenty_turns(unsent, takes, dropped, looks):
    """X2, X4: a large one as little as a small one holds its place for hours."""
    slow = Slow(unsent, takes)
    slow._watch_writes()

    assert (slow.dropped, slow.looks) == (dropped, looks)


def test_who_is_refused_holds_no_connection(tmp_path, monkeypatch):
    """X2, X4: refused bodies that go on coming displace one another, and nobody else."""
    monkeypatch.setattr(unread_body, "DRAIN_SECONDS", 60.0)
    monkeypatch.setattr(unread_body, "PAUSE_SECONDS", 60.0)
    put(tmp_path / "keys")
    settings = Settings(store="", keys=tmp_path / "keys", connections=10, rate_unknown="")
    with serving(settings) as client, ExitStack() as stack:
        for _ in range(30):
            raw = stack.enter_context(wire(client))
            raw.send(head(f"POST {PATH}", "Content-Length: 50000"), b"{")
            assert raw.status() == 401
        served = [httpx.get(client.base_url.join("/readyz"), trust_env=False) for _ in range(5)]

    assert {answer.status_code for answer in served} == {200}
