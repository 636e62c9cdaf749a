"""nginx as deploy/ has it, in front of the service: clients that are slow, many, or lie."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from command_line import CHUNKS, QUERY
from foveate.service.settings import Settings
from http_wire import Wire, head, wire
from proxy_server import TEXT, Proxy, proxied
from service_keys import by, put

PATH = "/v1/assemble"
ASKED = {"query": QUERY, "candidates": CHUNKS[:1]}
IMPATIENT = {"client_header_timeout": "1s", "send_timeout": "1s", "keepalive_timeout": "1s"}


def settings(folder: Path, **more: object) -> tuple[Settings, str]:
    """Those of a service behind the proxy, and a key."""
    token = put(folder / "keys")
    given = {"store": "", "keys": folder / "keys", **more}
    return Settings(**given), token


@pytest.fixture(scope="module")
def proxy(tmp_path_factory) -> Iterator[tuple[Proxy, str]]:
    """A proxy with short times in front of a service; a key."""
    folder = tmp_path_factory.mktemp("proxy")
    told, token = settings(folder)
    with proxied(folder, told, **IMPATIENT) as found:
        yield found, token


def test_it_hands_requests_on_over_tls(proxy):
    """X4: with the certificate of the file; the answer is the service's."""
    found, token = proxy
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with httpx.Client(base_url=found.secure, verify=trusting, trust_env=False) as client:
        answer = client.post(PATH, json=ASKED, headers=by(token))
    plain = found.client.post(PATH, json=ASKED, headers=by(token))

    assert answer.status_code == 200
    assert answer.json()["text"] == plain.json()["text"]
    assert found.client.get("/v1/me").status_code == 401


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /he", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"\r\n"],
    ids=["nothing", "half a line", "half a header", "an empty line"],
)
def test_headers_that_never_end_have_a_time(proxy, sent):
    """X2, X4: whoever connects and sends no whole request is cut off, at first and after one."""
    with wire(proxy[0].client) as raw:
        at_first = raw.send(sent).ended()
    with wire(proxy[0].client) as raw:
        before = raw.send(head("GET /healthz")).answer().status
        afterwards = raw.send(sent or b"G").ended()

    assert at_first
    assert (before, afterwards) == (200, True)


def test_a_byte_now_and_then_makes_headers_no_longer(proxy):
    """X4: their time is not that of the last byte."""
    with wire(proxy[0].client, patience=0.02) as raw:
        raw.send(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ")
        answers = []
        for _ in range(6_000):
            raw.send(b"a")
            with suppress(TimeoutError):
                answers.append(raw.answer())
                break

    assert [answer and answer.status for answer in answers] in ([None], [408])


def test_a_client_that_takes_no_answer_is_dropped(proxy):
    """X2, X4: an answer that nobody reads is given up; one that is read arrives whole."""
    found, token = proxy
    candidates = [{"text": f"{number} " + "x" * 200_000} for number in range(40)]
    asked = json.dumps({"query": QUERY, "candidates": candidates, "bundle": True}).encode()
    key, length = f"Authorization: Bearer {token}", f"Content-Length: {len(asked)}"
    sent = head(f"POST {PATH}", key, "Content-Type: application/json", length)
    with wire(found.client, buffer=4_096) as lazy, wire(found.client) as other:
        lazy.send(sent, asked)
        whole = other.send(sent, asked).answer()
        health = found.client.get("/healthz").status_code
        dropped = lazy.broken_off()

    assert whole.status == 200
    assert len(whole.body) > 8_000_000
    assert health == 200
    assert dropped


@pytest.mark.parametrize(
    "headers",
    [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: +5",),
        ("Transfer-Encoding: gzip, chunked",),
        ("Host: other",),
        ("X : y",),
        ("X: a\x00b",),
    ],
)
def test_two_meanings_are_none(proxy, headers):
    """X4: neither of the two reads a request that the other one did not see."""
    with wire(proxy[0].client) as raw:
        raw.send(head(f"POST {PATH}", *headers), b"0\r\n\r\n", head("GET /readyz"))
        answer = raw.answer()
        ended = raw.ended()

    assert answer.status in {400, 501}
    assert ended


def held(client: httpx.Client, stack: ExitStack, token: str, source: str) -> Wire:
    """A request from this address whose body has yet to come."""
    raw = stack.enter_context(wire(client, source=source))
    key = f"Authorization: Bearer {token}"
    raw.send(head(f"POST {PATH}", key, "Content-Length: 9", "Expect: 100-continue"))
    return raw


def test_one_address_takes_no_more_than_its_places(tmp_path):
    """X4: 429 while its requests are under way; another address is served; then it is again."""
    told, token = settings(tmp_path)
    with proxied(tmp_path, told, limit_conn="clients 3") as found, ExitStack() as stack:
        client = found.client
        waiting = [held(client, stack, token, "127.0.0.2") for _ in range(3)]
        assert [raw.status() for raw in waiting] == [100] * 3
        refused = held(client, stack, token, "127.0.0.2").status()
        served = client.post(PATH, json=ASKED, headers=by(token)).status_code
        for raw in waiting:
            raw.send(b"{}       ").answer()
        again = held(client, stack, token, "127.0.0.2").status()

    assert [refused, served, again] == [429, 200, 100]


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [("2001:db8::1", "2001:db8::2", 429), ("2001:db8::1", "2001:db8:0:1::1", 100)],
)
def test_a_network_of_version_6_is_one_address(tmp_path, first, second, status):
    """X4: whoever has one has all addresses of 64 bits behind it."""
    told, token = settings(tmp_path)
    named = {"limit_conn": "clients 1; set_real_ip_from 127.0.0.1; real_ip_header X-Seen"}
    with proxied(tmp_path, told, **named) as found, ExitStack() as stack:
        seen = []
        for address in (first, second):
            raw = stack.enter_context(wire(found.client))
            key, whence = f"Authorization: Bearer {token}", f"X-Seen: {address}"
            raw.send(head(f"POST {PATH}", key, whence, "Content-Length: 9", "Expect: 100-continue"))
            seen.append(raw.status())

    assert seen == [100, status]


def test_silent_connections_displace_one_another_and_nobody_else(tmp_path):
    """X2, X4: more of them than there are places; who asks is always served."""
    told, _ = settings(tmp_path)
    with proxied(tmp_path, told, worker_connections="40") as found, ExitStack() as stack:
        during = []
        for _ in range(100):
            stack.enter_context(wire(found.client))
            with wire(found.client) as asking:
                during.append(asking.send(head("GET /healthz")).answer())

    assert {answer and answer.status for answer in during} == {200}


def test_a_key_has_one_rate_at_all_replicas(tmp_path):
    """X4: counted where all of its requests pass; another key is served."""
    told, token = settings(tmp_path)
    other = put(tmp_path / "keys")
    rates = {"limit_req_zone": "$http_authorization zone=keys:10m rate=1r/m"}
    rates["limit_req"] = "zone=keys burst=2 nodelay"
    with proxied(tmp_path, told, **rates) as found:
        tried = [found.client.get("/v1/me", headers=by(token)).status_code for _ in range(5)]
        served = found.client.get("/v1/me", headers=by(other)).status_code

    assert tried == [200] * 3 + [429] * 2
    assert served == 200


def test_its_limits_are_wider_than_those_of_the_service():
    """F3: a body or a wait that the service allows reaches it, so that it gives the reason."""
    fields = Settings.model_fields
    megabytes = int(TEXT.partition("client_max_body_size ")[2].partition("m;")[0])
    seconds = int(TEXT.partition("proxy_read_timeout ")[2].partition("s;")[0])

    assert megabytes * 1_000_000 > fields["body_bytes"].default
    assert seconds > fields["answer_seconds"].default
    assert f"127.0.0.1:{fields['port'].default};" in TEXT
