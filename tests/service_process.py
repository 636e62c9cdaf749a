"""`foveate serve` as a process of its own: killed, told to stop, looked at from outside."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from http_wire import PATIENCE, Answer, Wire, request
from source_tree import PACKAGE

HOST = "127.0.0.1"
Address = tuple[str, int]


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.create_server((HOST, 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


class Service:
    """A running service. `settings`: as in the settings file; lists and tables are allowed."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.log = folder / "service.log"
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            port = settings.get("port") or free_port()
            self.address: Address = (HOST, port)
            self._start({**settings, "host": HOST, "port": port})
            if self._ready():
                return
            if "ddress already in use" not in self.said():
                raise AssertionError(f"it does not start: {self.said()[-3000:]}")

    def _start(self, settings: dict[str, Any]) -> None:
        file = self.folder / "serve.toml"
        file.write_text("".join(f"{k} = {_toml(v)}\n" for k, v in settings.items()))
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FOVEATE_")}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "foveate", "serve", "--settings", str(file)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**environment, "PYTHONPATH": str(PACKAGE.parent)},
            )

    def _ready(self) -> bool:
        """Wait until it says so; False where it ended before."""
        while self.process.poll() is None:
            with suppress(OSError), Wire(self.address, patience=1) as wire:
                wire.send(request("GET", "/readyz"))
                answer = wire.answer()
                if answer is not None and answer.status == 200:
                    return True
            # A connection that is refused takes no time; so it waits for the process to end.
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(0.05)
        return False

    def said(self, since: int = 0) -> str:
        """All that it wrote to its log, from a place on."""
        return self.log.read_bytes()[since:].decode(errors="replace")

    def place(self) -> int:
        """How long its log is, for `said`."""
        return self.log.stat().st_size

    def kill(self) -> None:
        """`kill -9`, and wait until it is gone."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def tell(self, number: int = signal.SIGTERM) -> None:
        """A signal."""
        self.process.send_signal(number)

    def ended(self) -> int:
        """Its exit code, once it has one."""
        return self.process.wait(PATIENCE)

    def children(self) -> list[int]:
        """The processes that it started, for `workers`."""
        return _children(self.process.pid)

    def sockets(self) -> int:
        """How many sockets it holds open, those of its own included."""
        found = 0
        for entry in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                found += str(entry.readlink()).startswith("socket:")
        return found

    def threads(self) -> int:
        """How many threads it has."""
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    def memory(self) -> int:
        """Resident bytes, now; of its children too."""
        return sum(map(_resident, [self.process.pid, *self.children()]))


@contextmanager
def running(folder: Path, **settings: Any) -> Iterator[Service]:
    """A service as long as the block lasts; told to stop at the end, where it is still there."""
    service = Service(folder, **settings)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.tell()
            with suppress(subprocess.TimeoutExpired):
                service.process.wait(PATIENCE)
        service.process.kill()
        service.process.wait(PATIENCE)


def settled(service: Service, sockets: int) -> int:
    """How many sockets are open once what is being closed is closed; at the most so many asked for.

    Each look is behind a request, which the service's own loop answers after what came before it.
    """
    count = 0
    for _ in range(500):
        with Wire(service.address) as wire:
            wire.send(request("GET", "/healthz", None, {"Connection": "close"}))
            found = wire.answer()
            assert isinstance(found, Answer)
            assert wire.ends()
        count = service.sockets()
        if count <= sockets:
            break
    return count


def _children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            found += [int(word) for word in (task / "children").read_text().split()]
    return found


def _resident(pid: int) -> int:
    with suppress(OSError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0


def _toml(value: Any) -> str:
    """Spelled as TOML, which for these values is JSON but for tables."""
    import json

    if isinstance(value, dict):
        return "{" + ", ".join(f'"{k}" = {_toml(v)}' for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(str(value) if isinstance(value, Path) else value)
