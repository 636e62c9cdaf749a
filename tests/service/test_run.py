"""`foveate serve` as a program: one process or several, stopped and killed."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from queue import Queue
from threading import Thread
from time import monotonic

import httpx
import pytest

from command_line import QUERY
from foveate.service.run import HANGING_SECONDS, build_config, open_listener
from foveate.service.settings import Settings
from service_process import running


def test_a_part_of_a_second_is_time_too():
    """X4: open requests have as long to finish as the operator says, and no less."""
    config = build_config(object(), Settings(store="", grace=0.5))

    assert config.timeout_graceful_shutdown >= 0.5


def test_it_finishes_what_it_took(tmp_path):
    """F3, X2: told to stop, it takes no more, finishes what it has, and ends with 0."""
    many = [{"text": f"Part {n} of the long manual says {n * 7} things.", "score": n / 2_000}
            for n in range(2_000)]  # fmt: skip
    answers: Queue[httpx.Response] = Queue()
    with running(tmp_path, seconds=600) as service, service.client() as client:

        def ask() -> None:
            with service.client() as slow:
                body = {"query": QUERY, "candidates": many}
                answers.put(slow.post("/v1/assemble", json=body, timeout=600))

        asking = Thread(target=ask)
        asking.start()
        while 'work_running{pool="work"} 1.0' not in client.get("/metrics").text:
            assert answers.empty(), "the long request is done too soon to prove anything"
        service.tell()
        assert answers.get(timeout=600).status_code == 200
        asking.join(600)
        assert service.ended() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_several_processes_end_with_their_supervisor(tmp_path, number):
    """F3: it hands the signal on to every process, and ends with 0."""
    with running(tmp_path, workers=2) as service:
        with service.client() as client:
            assert client.get("/healthz").status_code == 200
        workers = service.workers()
        service.tell(number)

        assert service.ended() == 0
        assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


def test_a_worker_that_is_killed_as_it_starts_is_replaced(tmp_path):
    """X3: the supervisor notices it at once, though it waits for its first answer."""
    with running(tmp_path, is_awaited=False, workers=2) as service:
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
        with service.client() as client:
            assert client.get("/readyz").status_code == 200


def test_a_head_is_not_waited_for():
    """F3: what follows an answer's head goes out at once, not when the client confirms the head."""
    with open_listener(Settings(store="", port=0)) as port:
        with socket.create_connection(port.getsockname()):
            accepted, _ = port.accept()
        with accepted:
            at_once = accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    assert at_once != 0
