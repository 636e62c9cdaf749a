"""`foveate serve` as a program: one process or several, stopped, killed, and told twice."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from threading import Thread
from time import monotonic

import httpx

from command_line import CHUNKS, QUERY
from foveate.service.limits.connections import Connection
from foveate.service.run import HANGING_SECONDS, build_config
from foveate.service.settings import Settings
from service_server import serving
from source_tree import PACKAGE

ASKED = {"query": QUERY, "candidates": CHUNKS}


@dataclass
class Program:
    """The program, where it listens, and the lines it logs."""

    process: subprocess.Popen[str]
    lines: Queue[str]
    url: str = ""

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The next line that it logs of this kind."""
        while True:
            line = self.lines.get(timeout=60)
            if found := re.search(pattern, line):
                return found

    def client(self) -> httpx.Client:
        """Somebody who asks."""
        return httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def end(self) -> int:
        """Wait for its end; its exit code."""
        return self.process.wait(60)


@contextmanager
def program(folder: Path, *flags: str, **settings: object) -> Iterator[Program]:
    """The program with these settings, once it listens."""
    env = {f"FOVEATE_SERVE_{name.upper()}": str(value) for name, value in settings.items()}
    process = subprocess.Popen(
        [sys.executable, "-m", "foveate", "serve", "--port", "0", *flags],
        cwd=folder,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={"PYTHONPATH": str(PACKAGE.parent), "PATH": os.environ["PATH"],
             "FOVEATE_SERVE_EMBEDDER": "hashing", "FOVEATE_SERVE_LOG_FORMAT": "plain",
             "FOVEATE_SERVE_CREATE": "true", "FOVEATE_SERVE_MCP": "false", **env},
    )  # fmt: skip
    lines: Queue[str] = Queue()
    stderr = process.stderr
    assert stderr is not None
    reader = Thread(target=lambda: [lines.put(line) for line in stderr], daemon=True)
    reader.start()
    found = Program(process=process, lines=lines)
    try:
        found.url = found.wait_for(r"listening on (http://\S+)")[1]
        yield found
    finally:
        process.kill()
        process.wait(60)
        reader.join(60)
        stderr.close()


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
    with program(tmp_path, **settings) as running, running.client() as client:

        def ask() -> None:
            with running.client() as slow:
                body = {"query": QUERY, "candidates": many}
                answers.put(slow.post("/v1/assemble", json=body, timeout=600))

        asking = Thread(target=ask)
        asking.start()
        while 'work_running{pool="work"} 1.0' not in client.get("/metrics").text:
            assert answers.empty(), "the long request is done too soon to prove anything"
        running.process.send_signal(signal.SIGTERM)
        first = client.get("/readyz")
        while first.status_code == 200:  # the signal is on its way
            first = client.get("/readyz")

        assert first.status_code == 503
        assert client.post("/v1/assemble", json=ASKED).status_code == 200
        running.process.send_signal(signal.SIGTERM)
        assert set(until_closed(client)) <= {503}
        assert answers.get(timeout=600).status_code == 200
        asking.join(600)
        assert running.end() == 0


def test_told_twice_it_does_not_wait_to_be_noticed(tmp_path):
    """F3: a second signal ends it though the time to be noticed is not over."""
    with program(tmp_path, drain=3_600) as running, running.client() as client:
        client.get("/healthz")
        running.process.send_signal(signal.SIGINT)
        assert running.wait_for(r"ends in (\d+) seconds")[1] == "3600"
        while client.get("/readyz").status_code == 200:
            pass
        running.process.send_signal(signal.SIGINT)

        assert running.end() == 0


def test_workers_that_are_told_twice_do_not_wait_either(tmp_path):
    """F3: the supervisor hands the second signal on to every process."""
    with program(tmp_path, "--workers", "2", drain=3_600) as running:
        with running.client() as client:
            client.get("/healthz")
            running.process.send_signal(signal.SIGTERM)
            while client.get("/readyz").status_code == 200:
                pass
        running.process.send_signal(signal.SIGTERM)

        assert running.end() == 0


def test_a_worker_that_is_killed_as_it_starts_is_replaced(tmp_path):
    """X3: the supervisor notices it at once, though it waits for its first answer."""
    with program(tmp_path, "--workers", "2", drain=0) as running:
        while len(first := children(running.process.pid)) < 2:
            pass
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in first:
                os.kill(pid, number)
            killed = monotonic()
            while monotonic() - killed < 2:  # the supervisor looks twice a second
                pass
        assert int(running.wait_for(r"Child process \[(\d+)\] died")[1]) in first
        assert monotonic() - killed < HANGING_SECONDS / 2
        with running.client() as client:
            assert client.get("/readyz").status_code == 200


def children(process: int) -> list[int]:
    """The workers of a process."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    commands = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in found}
    return [int(pid) for pid, command in commands.items() if b"spawn_main" in command]


def test_workers_share_the_port_and_are_replaced(tmp_path):
    """F3, X3: two processes answer; one that is killed is started again; the end is in order."""
    with program(tmp_path, "--workers", "2", drain=0) as running:
        with running.client() as client:
            assert client.post("/v1/assemble", json=ASKED).status_code == 200
        first = children(running.process.pid)
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        assert running.wait_for(r"Child process \[(\d+)\] died")[1] == str(first[0])
        with running.client() as client:
            assert client.post("/v1/assemble", json=ASKED).status_code == 200
        while len(now := children(running.process.pid)) < 2:
            pass
        assert first[1] in now
        running.process.send_signal(signal.SIGTERM)
        assert running.end() == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in now)


def test_workers_go_when_their_starter_is_killed(tmp_path):
    """X3: nobody holds a port that nobody can stop."""
    with program(tmp_path, "--workers", "2", drain=0) as running:
        with running.client() as client:
            assert client.get("/readyz").status_code == 200
        left = children(running.process.pid)
        running.process.kill()
        running.process.wait(60)
        with running.client() as client:
            until_closed(client)

        assert len(left) == 2


def test_a_head_is_not_waited_for(monkeypatch):
    """F3: what follows an answer's head goes out at once, not when the client confirms the head."""
    at_once = []
    made = Connection.connection_made

    def noted(self, transport):
        made(self, transport)
        wire = transport.get_extra_info("socket")
        at_once.append(wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0)

    monkeypatch.setattr(Connection, "connection_made", noted)
    with serving(Settings(store="")) as client:
        client.get("/healthz")

    assert at_once == [True]
