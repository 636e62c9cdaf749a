"""More requests at once than there are places."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import takewhile
from typing import Any

import httpx
import pytest

from command_line import CHUNKS, QUERY
from foveate.service.auth.caller import Caller
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
