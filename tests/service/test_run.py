"""`foveate serve` as a program: one process or several, stopped, killed, and told twice."""

from __future__ import annotations

import os
import signal
import socket
from queue import Queue
from threading import Thread
from time import monotonic

import httpx

from command_line import CHUNKS, QUERY
from foveate.service.run import HANGING_SECONDS, build_config, open_listener
from foveate.service.settings import Settings
from service_process import Service, running

ASKED = {"query": QUERY, "candidates": CHUNKS}


def keeping(service: Service) -> httpx.Client:
    """A client that keeps its connection."""
    host, port = service.address
    return httpx.Client(base_url=f"http://{host}:{port}", timeout=60, trust_env=False)


def until_closed(client: httpx.Client) -> list[int]:
    """The status of the readiness, asked for until nobody listens."""
    seen = []
    while True:
        try:
            seen.append(client.get("/readyz").status_code)
        except httpx.TransportError:
            return seen


def test_a_part_of_a_second_is_time_too():
    """X4: open requests have as long to finish as the operator says, and no less."""
    config = build_config(object(), Settings(store="", grace=0.5))

    assert config.timeout_graceful_shutdown >= 0.5


def test_it_is_red_first_and_finishes_what_it_took(tmp_path):
    """F3, X2: told to stop, it is not ready, answers for a while, finishes all, ends with 0."""
    many = [{"text": f"Part {n} of the long manual says {n * 7} things.", "score": n / 2_000}
            for n in range(2_000)]  # fmt: skip
    answers: Queue[httpx.Response] = Queue()
    settings = {"drain": 3_600, "seconds": 600, "threads": 2}
    with running(tmp_path, **settings) as service, keeping(service) as client:

        def ask() -> None:
            with keeping(service) as slow:
                body = {"query": QUERY, "candidates": many}
                answers.put(slow.post("/v1/assemble", json=body, timeout=600))

        asking = Thread(target=ask)
        asking.start()
        while 'work_running{pool="work"} 1.0' not in client.get("/metrics").text:
            assert answers.empty(), "the long request is done too soon to prove anything"
        service.tell()
        first = client.get("/readyz")
        while first.status_code == 200:  # the signal is on its way
            first = client.get("/readyz")

        assert first.status_code == 503
        assert client.post("/v1/assemble", json=ASKED).status_code == 200
        service.tell()
        assert set(until_closed(client)) <= {503}
        assert answers.get(timeout=600).status_code == 200
        asking.join(600)
        assert service.ended() == 0


def test_told_twice_it_does_not_wait_to_be_noticed(tmp_path):
    """F3: a second signal ends it though the time to be noticed is not over."""
    with running(tmp_path, drain=3_600) as service, keeping(service) as client:
        client.get("/healthz")
        service.tell(signal.SIGINT)
        assert service.wait_for(r"ends in (\d+) seconds")[1] == "3600"
        while client.get("/readyz").status_code == 200:
            pass
        service.tell(signal.SIGINT)

        assert service.ended() == 0


def test_workers_that_are_told_twice_do_not_wait_either(tmp_path):
    """F3: the supervisor hands the second signal on to every process."""
    with running(tmp_path, workers=2, drain=3_600) as service:
        with keeping(service) as client:
            client.get("/healthz")
            service.tell()
            while client.get("/readyz").status_code == 200:
                pass
        service.tell()

        assert service.ended() == 0


def test_a_worker_that_is_killed_as_it_starts_is_replaced(tmp_path):
    """X3: the supervisor notices it at once, though it waits for its first answer."""
    with running(tmp_path, is_awaited=False, workers=2, drain=0) as service:
        while len(first := service.workers()) < 2:
            pass
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in first:
                os.kill(pid, number)
            killed = monotonic()
            while monotonic() - killed < 2:  # the supervisor looks twice a second
                pass
        assert int(service.wait_for(r"Child process \[(\d+)\] died")[1]) in first
        assert monotonic() - killed < HANGING_SECONDS / 2
        with keeping(service) as client:
            assert client.get("/readyz").status_code == 200


def test_a_head_is_not_waited_for():
    """F3: what follows an answer's head goes out at once, not when the client confirms the head."""
    with open_listener(Settings(store="", port=0)) as port:
        with socket.create_connection(port.getsockname()):
            accepted, _ = port.accept()
        with accepted:
            at_once = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    assert at_once != 0
