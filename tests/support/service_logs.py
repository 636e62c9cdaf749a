"""What `foveate serve` writes on standard error, line by line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from source_tree import ROOT

PATIENCE = 300
"""Seconds for an answer, or for an end, on however busy a machine."""


class Process:
    """A running service: a client of it, and after `stop` all that it wrote on standard error."""

    def __init__(self, settings: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "foveate", "serve"],
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={
                **os.environ,
                **_variables({"port": 0, "mcp": False, **settings}),
                **environment,
            },
        )
        self.lines: list[str] = []
        self.client = httpx.Client(base_url=self._address(), timeout=PATIENCE, trust_env=False)

    @property
    def pid(self) -> int:
        """The process that was started."""
        return self._process.pid

    def _address(self) -> str:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.lines.append(line)
            found = re.search(r"listening on (http://[\w.:]+)", line)
            if found:
                return found[1]
        raise AssertionError("".join(self.lines))

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Tell it to stop, and wait until it has; its exit code."""
        self.client.close()
        self._process.send_signal(how)
        _, rest = self._process.communicate(timeout=PATIENCE)
        self.lines += rest.splitlines(keepends=True)
        return self._process.returncode

    def records(self) -> list[dict[str, Any]]:
        """What it logged: each line must be one JSON object."""
        return [json.loads(line) for line in self.lines]

    def end(self) -> None:
        """Whatever happened, it runs no longer."""
        self.client.close()
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


@contextmanager
def running(
    settings: Mapping[str, Any], environment: Mapping[str, str] | None = None
) -> Iterator[Process]:
    """A service, until the end of the block."""
    process = Process(settings, environment or {})
    try:
        yield process
    finally:
        process.end()


def _variables(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings as the environment has them."""
    found = {"PYTHONPATH": str(ROOT / "src")}
    for name, value in settings.items():
        said = value if isinstance(value, str) else json.dumps(value)
        found[f"FOVEATE_SERVE_{name.upper()}"] = said
    return found
