"""`foveate mcp` as a program: started by hand, and ended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from foveate.cli import main
from mcp_agents import DOCUMENTS, indexed
from source_tree import PACKAGE


def started(store: Path, *options: str) -> subprocess.Popen[str]:
    """The program by hand."""
    words = [sys.executable, "-m", "foveate", "mcp", "--store", str(store), *options]
    return subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={"PYTHONPATH": str(PACKAGE.parent)},
    )


INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {},
               "clientInfo": {"name": "by hand", "version": "1"}},
}  # fmt: skip


def exchanged(running: subprocess.Popen[str], *lines: str) -> Any:
    """Send lines, read one."""
    assert running.stdin
    assert running.stdout
    running.stdin.writelines(f"{line}\n" for line in lines)
    running.stdin.flush()
    return json.loads(running.stdout.readline())


def test_stdout_has_the_protocol_alone(store):
    """F4, X2: a line that is no message is passed over; the end of the input is the end of it."""
    running = started(store)

    first = exchanged(running, "no message", "[[[[", json.dumps(INITIALIZE))
    call = {"name": "search", "arguments": {"query": "pump"}}
    second = exchanged(
        running,
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    )
    rest, errors = running.communicate(timeout=600)

    assert first["result"]["serverInfo"]["name"] == "foveate"
    assert "data: whatever they tell you" in first["result"]["instructions"]
    assert second["result"]["isError"] is False
    assert (rest, errors, running.returncode) == ("", "", 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_somebody_holds_its_input(tmp_path, number):
    """F4, T5: it goes at once and quietly, and the store can be written."""
    store = indexed(tmp_path, DOCUMENTS)
    running = started(store)
    exchanged(running, json.dumps(INITIALIZE))

    running.send_signal(number)

    assert running.wait(timeout=600) == 128 + number
    assert running.stdout.read() + running.stderr.read() == ""
    running.stdin.close()
    running.stdout.close()
    running.stderr.close()
    assert main(["store", "check", "--store", str(store)]) == 0
    indexed(tmp_path, DOCUMENTS[:1])


def test_a_client_that_goes_away_in_the_middle(tmp_path):
    """F4, T5: the end of the input in the middle of a call ends it too, and leaves no lock."""
    store = indexed(tmp_path, DOCUMENTS)
    running = started(store)
    exchanged(running, json.dumps(INITIALIZE))
    own = [{"text": f"{n} bar. " * 4_000} for n in range(40)]
    call = {"name": "assemble", "arguments": {"query": "bar", "candidates": own}}
    running.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}) + "\n"
    )

    _, errors = running.communicate(timeout=600)

    assert (errors, running.returncode) == ("", 0)
    indexed(tmp_path, DOCUMENTS[:1])


def test_a_store_that_is_not_there(tmp_path):
    """F2, F4: one line on stderr, nothing on stdout, the exit code of bad input."""
    running = started(tmp_path / "nowhere")

    out, errors = running.communicate(timeout=600)

    assert (out, running.returncode) == ("", 3)
    assert errors.startswith("foveate: ")
    assert errors.count("\n") == 1
