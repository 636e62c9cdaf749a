"""Bodies that are too large, too slow, or never whole; from outside."""

from __future__ import annotations

import asyncio
import gc
import json
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile

import httpx
import pytest

from command_line import CHUNKS, QUERY
from foveate.service.auth.caller import Caller
from foveate.service.limits.body import BodyLimit
from foveate.service.settings import Settings
from http_wire import head, wire
from service_server import problem, serving

pytestmark = pytest.mark.anyio

MOST = 100_000
ASKED = json.dumps({"query": QUERY, "candidates": CHUNKS[:1]}).encode()
PATH = "/v1/assemble"
JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"


@pytest.fixture(scope="module")
def service() -> Iterator[httpx.Client]:
    """A service that takes 100 kB, and does not wait for it for long."""
    settings = Settings(store="", body_bytes=MOST, bodies_bytes=2 * MOST, body_seconds=0.2)
    with serving(settings) as client:
        yield client


def padded(size: int) -> bytes:
    """The same request with so many bytes."""
    return ASKED + b" " * (size - len(ASKED))


def piece(data: bytes) -> bytes:
    """One chunk of a body that is sent in chunks."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def test_a_body_may_be_as_large_as_is_settled(service):
    """X2, X4: exactly so many bytes are taken, one more is not."""
    headers = {"Content-Type": "application/json"}
    found = [service.post(PATH, content=padded(size), headers=headers) for size in (MOST, MOST + 1)]

    assert [answer.status_code for answer in found] == [200, 413]
    assert "100,000 bytes" in problem(found[1])["detail"]


def test_a_body_that_claims_too_much_is_refused_before_it_is_sent(service):
    """X2, X4: by its length alone."""
    with wire(service) as raw:
        answer = raw.send(head(f"POST {PATH}", JSON, f"Content-Length: {10**15}")).answer()

    assert answer.status == 413


def test_a_body_without_a_length_is_counted_as_it_comes(service):
    """X2, X4: in chunks it may be as large as any other, and not one chunk larger."""
    with wire(service) as raw:
        raw.send(head(f"POST {PATH}", JSON, CHUNKED), piece(ASKED[:9]), piece(ASKED[9:]))
        whole = raw.send(b"0\r\n\r\n").answer()
    with wire(service) as raw:
        raw.send(head(f"POST {PATH}", JSON, CHUNKED), piece(b" " * MOST))
        over = raw.send(piece(b" ")).answer()

    assert (whole.status, over.status) == (200, 413)


@pytest.mark.parametrize("packing", ["gzip", "br", "gzip, gzip", "x" * 200])
def test_a_body_that_is_packed_is_refused(service, packing):
    """X4: 415 with what to do; a bomb is never unpacked."""
    headers = {"Content-Type": "application/json", "Content-Encoding": packing}
    answer = service.post(PATH, content=ASKED, headers=headers)

    assert answer.status_code == 415
    assert "without Content-Encoding" in problem(answer)["detail"]


@pytest.mark.parametrize(
    "sent",
    [
        (head(f"POST {PATH}", JSON, "Content-Length: 500"),),
        (head(f"POST {PATH}", JSON, "Content-Length: 500"), b"{"),
        (head(f"POST {PATH}", JSON, CHUNKED), b"5\r\n{"),
        (head(f"POST {PATH}", JSON, CHUNKED), piece(ASKED)),
    ],
    ids=["nothing of it", "a byte", "half a chunk", "no end"],
)
def test_a_body_that_does_not_arrive_is_408(service, sent):
    """X2, X4: after the time that a body has."""
    with wire(service) as raw:
        answer = raw.send(*sent).answer()

    assert answer.status == 408
    assert "within 0.2 seconds" in answer.problem["detail"]


def test_connections_that_are_cut_hold_nothing(service):
    """X2, X4: after many bodies that broke off at every place, whole ones are as welcome."""
    sent = head(f"POST {PATH}", JSON, f"Content-Length: {MOST}") + b"{" * MOST
    for place in range(0, len(sent), len(sent) // 40):
        with wire(service) as raw:
            raw.send(sent[:place])
    headers = {"Content-Type": "application/json"}
    tries = (service.post(PATH, content=padded(MOST), headers=headers) for _ in range(1_000))
    answers = [*takewhile(lambda answer: answer.status_code == 503, tries)]  # not noticed yet
    last = service.post(PATH, content=padded(MOST), headers=headers)

    assert all(answer.headers["retry-after"] == "1" for answer in answers)
    assert last.status_code == 200


@pytest.mark.parametrize(
    "broken",
    [
        b"zz\r\n{}\r\n0\r\n\r\n",
        b"-5\r\n{}\r\n0\r\n\r\n",
        b"2\r\n{}XX0\r\n\r\n",
        b"ffffffffffffffffffffffff\r\n{}",
    ],
)
def test_broken_chunks_end_the_connection(service, broken):
    """X2, X4: what is no HTTP is refused, and nothing of it is taken for another request."""
    with wire(service) as raw:
        raw.send(head(f"POST {PATH}", JSON, CHUNKED), broken, head("GET /healthz"))
        answer = raw.answer()
        ended = raw.ended()

    assert answer.status in {400, 408, 413}
    assert ended


class Held:
    """The layer alone, around an application that keeps what it gets until it is let go."""

    def __init__(self, *, most: int, together: int) -> None:
        self.layer = BodyLimit(self._slow, most=most, together=together, seconds=9)
        self.answered: list[int] = []
        self.leave = asyncio.Event()
        self.inside = asyncio.Semaphore(0)

    async def _slow(self, scope, receive, send):
        await receive()
        self.inside.release()
        await self.leave.wait()

    async def ask(self, size: int, key: str | None = "one") -> None:
        """A request with a body of this size; `key` None: of this machine, which needs none."""
        messages = [{"type": "http.request", "body": b" " * size, "more_body": False}]

        async def receive():
            return messages.pop(0)

        async def send(message):
            if message["type"] == "http.response.start":
                self.answered.append(message["status"])

        caller = Caller(key_id=key, tenant="default", principals=(), scopes=frozenset())
        headers = [(b"content-length", b"%d" % size)]
        scope = {"type": "http", "path": PATH, "headers": headers, "state": {"caller": caller}}
        await self.layer(scope, receive, send)

    def holds(self) -> int:
        """Bytes that are held now."""
        return self.layer._memory.used


async def test_all_bodies_together_are_bounded():
    """X4: what one request holds is missing for the others, until it has its answer."""
    house = Held(most=100, together=150)
    first = asyncio.create_task(house.ask(100))
    await house.inside.acquire()
    during = house.holds()
    await house.ask(60, "two")
    house.leave.set()
    await first
    await house.ask(60, "two")

    assert [during, house.holds()] == [100, 0]
    assert house.answered == [503]


@pytest.mark.parametrize(("key", "refused"), [("one", [429]), (None, [])])
async def test_one_key_leaves_room_for_the_bodies_of_others(key, refused):
    """X4: of all that may be held one key holds half; this machine by itself all of it."""
    house = Held(most=100, together=400)
    tasks = [asyncio.create_task(house.ask(100, key)) for _ in range(2)]
    for _ in tasks:
        await house.inside.acquire()
    tasks.append(asyncio.create_task(house.ask(100, key)))
    other = asyncio.create_task(house.ask(100, "two"))
    await house.inside.acquire()
    house.leave.set()
    await asyncio.gather(*tasks, other)

    assert house.answered == refused
    assert house.holds() == 0


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/playground/", "/playground/x"])
def test_what_needs_no_key_waits_for_no_body(path):
    """X2, X4: nobody without a key holds a connection, or room for bodies, by sending none."""
    with serving(Settings(store="", body_seconds=60)) as client, wire(client) as raw:
        answer = raw.send(head(f"POST {path}", JSON, "Content-Length: 50000"), b"{").answer()

    assert answer.status == 405


@pytest.mark.parametrize("form", ['{"query": "%s', '{"quarry": "%s"}'])
def test_a_body_that_is_refused_is_let_go_of(form):
    """F3: no error and its frames hold it until the collector comes by."""
    body = form % ("x" * 30_000)
    with serving(Settings(store="")) as client:
        gc.collect()
        before = errors_alive()
        gc.disable()
        try:
            answer = client.post(PATH, content=body, headers={"Content-Type": "application/json"})
            client.get("/healthz")
            after = errors_alive()
        finally:
            gc.enable()

    assert answer.status_code == 400
    assert after - before == Counter()


def errors_alive() -> Counter[str]:
    """Requests and errors that something holds, by type."""
    kinds = Counter(type(one).__name__ for one in gc.get_objects())
    return Counter({name: kinds[name] for name in ("StrictRequest", "UnknownName", "BadInput")})
