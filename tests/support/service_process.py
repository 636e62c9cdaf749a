"""`foveate serve` as a process of its own: killed, told to stop, looked at from outside."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from http_wire import PATIENCE, Answer, Wire, ask, request
from source_tree import PACKAGE

HOST = "127.0.0.1"
Address = tuple[str, int]


class Service:
    """A running service. `settings`: as in the settings file; lists and tables are allowed.

    `packages`: a folder of packages that are installed beside ours. `environment`: variables of its
    own. `is_awaited`: until it answers.
    """

    def __init__(
        self,
        folder: Path,
        *,
        packages: Path | None = None,
        environment: Mapping[str, str] | None = None,
        is_awaited: bool = True,
        **settings: Any,
    ) -> None:
        self.folder = folder
        self.log = folder / "service.log"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "serve.toml"
        # The tools for agents take 0.4 s to load, and tests/service/mcp asks for them.
        given = {"host": HOST, "port": 0, "store": "", "create": True, "mcp": False, **settings}
        file.write_text("".join(f"{k} = {_toml(v)}\n" for k, v in given.items()))
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("FOVEATE_")}
        path = os.pathsep.join(str(one) for one in (PACKAGE.parent, packages) if one)
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "foveate", "serve", "--settings", str(file)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**inherited, "PYTHONPATH": path, **(environment or {})},
            )
        self.address: Address = (HOST, int(self.wait_for(r"listening on http://[^:]+:(\d+)")[1]))
        if is_awaited:
            ask(self.address, "GET", "/readyz")  # its port is taken before it answers

    def wait_for(self, pattern: str) -> re.Match[str]:
        """What it logs of this kind, once it does."""
        while (found := re.search(pattern, self.said())) is None:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(0.02)
                raise AssertionError(f"it ended: {self.said()[-3_000:]}")
        return found

    def said(self) -> str:
        """All that it wrote to its log."""
        return self.log.read_bytes().decode(errors="replace")

    def records(self) -> list[dict[str, Any]]:
        """What it logged: each line must be one JSON object."""
        return [json.loads(line) for line in self.said().splitlines()]

    def client(self) -> httpx.Client:
        """A client that keeps its connection."""
        host, port = self.address
        return httpx.Client(base_url=f"http://{host}:{port}", timeout=PATIENCE, trust_env=False)

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

    def stop(self) -> int:
        """Tell it to stop; its exit code, once it has."""
        self.tell()
        return self.ended()

    def children(self) -> list[int]:
        """The processes that it started, for `workers`."""
        return _children(self.process.pid)

    def workers(self) -> list[int]:
        """Those of them that serve."""
        commands = {pid: Path(f"/proc/{pid}/cmdline") for pid in self.children()}
        return [pid for pid, file in commands.items() if b"spawn_main" in file.read_bytes()]

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
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{k}" = {_toml(v)}' for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(str(value) if isinstance(value, Path) else value)
