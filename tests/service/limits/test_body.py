"""Bodies that are too large, too slow, packed to burst, or never whole; from outside."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile

import httpx
import pytest

from command_line import CHUNKS, QUERY
from foveate.service.auth.caller import Caller
from foveate.service.limits.body import BodyLimit
from foveate.service.problems import ProblemError
from foveate.service.settings import Settings
from http_wire import head, wire
from service_server import problem, serving, without_time

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


def packed(data: bytes) -> dict[str, object]:
    """How a client sends it packed."""
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    return {"content": data, "headers": headers}


def padded(size: int) -> bytes:
    """The same request with so many bytes."""
    return ASKED + b" " * (size - len(ASKED))


def piece(data: bytes) -> bytes:
    """One chunk of a body that is sent in chunks."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def test_a_body_may_be_as_large_as_is_settled(service):
    """X2, X4: exactly so many bytes are taken, one more is not; so is what unpacks to as many."""
    sizes = MOST, MOST + 1
    headers = {"Content-Type": "application/json"}
    plain = [service.post(PATH, content=padded(size), headers=headers) for size in sizes]
    folded = [service.post(PATH, **packed(gzip.compress(padded(size)))) for size in sizes]

    assert [answer.status_code for answer in (*plain, *folded)] == [200, 413, 200, 413]
    assert problem(plain[1])["detail"] == problem(folded[1])["detail"]
    assert without_time(plain[0]) == without_time(folded[0])


def test_a_body_that_claims_too_much_is_refused_before_it_is_sent(service):
    """X2, X4: by its length alone; the connection ends, whatever more would come."""
    with wire(service) as raw:
        answer = raw.send(head(f"POST {PATH}", JSON, f"Content-Length: {10**15}")).answer()
        ended = raw.ended()

    assert answer.status == 413
    assert ended


def test_the_rest_of_a_refused_body_is_not_waited_for(service):
    """X4: what was answered before it was whole may not go on for ever."""
    with wire(service) as raw:
        answer = raw.send(head(f"POST {PATH}", JSON, f"Content-Length: {10**9}"), b"{").answer()
    with wire(service, patience=0.02) as raw:
        raw.send(head(f"POST {PATH}", JSON, f"Content-Length: {10**9}"), b"{")
        ends = []
        for _ in range(6_000):
            raw.send(b"a" * 10)
            with suppress(TimeoutError):
                ends.append(raw.ended())
                break

    assert answer.status == 413
    assert ends == [True]


def test_a_body_without_a_length_is_counted_as_it_comes(service):
    """X2, X4: in chunks it may be as large as any other, and not one chunk larger."""
    with wire(service) as raw:
        raw.send(head(f"POST {PATH}", JSON, CHUNKED), piece(ASKED[:9]), piece(ASKED[9:]))
        whole = raw.send(b"0\r\n\r\n").answer()
    with wire(service) as raw:
        raw.send(head(f"POST {PATH}", JSON, CHUNKED), piece(b" " * MOST))
        over = raw.send(piece(b" ")).answer()
        ended = raw.ended()

    assert (whole.status, over.status) == (200, 413)
    assert ended


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (gzip.compress(b" " * 50_000_000), 413),
        (gzip.compress(gzip.compress(b" " * 50_000_000)), 400),
        (gzip.compress(ASKED)[:-9], 400),
        (gzip.compress(ASKED)[:-8] + bytes(8), 400),
        (gzip.compress(ASKED) + b"x", 400),
        (gzip.compress(ASKED) + gzip.compress(b" "), 400),
        (zlib.compress(ASKED), 400),
        (ASKED, 400),
        (b"", 422),
    ],
    ids=["bomb", "in a bomb", "cut off", "wrong sum", "more", "two", "zlib", "plain", "nothing"],
)
def test_what_is_packed_is_unpacked_no_further_than_it_may_be(service, data, status):
    """X2, X4: a bomb is 413 after the bound; what is not one whole gzip is 400."""
    answer = service.post(PATH, **packed(data))

    assert answer.status_code == status
    assert problem(answer)["detail"]


def test_a_bomb_is_not_unpacked_beyond_the_bound():
    """X4: of a hundred megabytes no more than the bound and one byte ever comes out."""
    layer = BodyLimit(_nobody, most=MOST, together=MOST, seconds=1)
    packer = zlib.compressobj(wbits=31)
    parts = [packer.compress(b" " * 1_000_000) for _ in range(100)]
    bomb = b"".join([*parts, packer.flush()])
    made = zlib.decompressobj(31)

    with pytest.raises(ProblemError) as refused:
        layer._decompress(bomb)

    assert refused.value.status_code == 413
    assert len(made.decompress(bomb, MOST + 1)) == MOST + 1


@pytest.mark.parametrize("packing", ["br", "deflate", "compress", "gzip, gzip", "zstd", "x" * 200])
def test_other_packings_are_refused(service, packing):
    """X4: 415, and which there are."""
    headers = {"Content-Type": "application/json", "Content-Encoding": packing}
    answer = service.post(PATH, content=ASKED, headers=headers)

    assert answer.status_code == 415
    assert answer.headers["accept-encoding"] == "gzip, identity"


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
    """X2, X4: after the time that a body has, and then the connection ends."""
    with wire(service) as raw:
        answer = raw.send(*sent).answer()
        ended = raw.ended()

    assert answer.status == 408
    assert "within 0.2 seconds" in answer.problem["detail"]
    assert ended


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


async def _nobody(scope: object, receive: object, send: object) -> None:
    """An application that is never asked."""


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
        ended = raw.ended()

    assert answer.status == 405
    assert ended


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
