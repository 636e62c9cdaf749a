"""`foveate mcp` as a program: started by hand, and ended."""

from __future__ import annotations

import signal

import pytest

from foveate.cli import main
from mcp_agents import DOCUMENTS, INITIALIZE, INITIALIZED, exchanged, indexed, message, started


def test_stdout_has_the_protocol_alone(store):
    """F4, X2: a line that is no message is passed over; the end of the input is the end of it."""
    running = started("--store", str(store))

    first = exchanged(running, "no message", "[[[[", INITIALIZE)
    call = {"name": "search", "arguments": {"query": "pump"}}
    second = exchanged(
        running,
        INITIALIZED,
        message("tools/call", call, 2),
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
    running = started("--store", str(store))
    exchanged(running, INITIALIZE)

    running.send_signal(number)

    assert running.wait(timeout=600) == 128 + number
    assert running.stdout.read() + running.stderr.read() == ""
    for stream in (running.stdin, running.stdout, running.stderr):
        stream.close()
    assert main(["store", "check", "--store", str(store)]) == 0
    indexed(tmp_path, DOCUMENTS[:1])


def test_a_client_that_goes_away_in_the_middle(tmp_path):
    """F4, T5: the end of the input in the middle of a call ends it too, and leaves no lock."""
    store = indexed(tmp_path, DOCUMENTS)
    running = started("--store", str(store))
    exchanged(running, INITIALIZE)
    own = [{"text": f"{n} bar. " * 4_000} for n in range(40)]
    call = {"name": "assemble", "arguments": {"query": "bar", "candidates": own}}
    running.stdin.write(message("tools/call", call, 2) + "\n")

    _, errors = running.communicate(timeout=600)

    assert (errors, running.returncode) == ("", 0)
    indexed(tmp_path, DOCUMENTS[:1])


def test_a_store_that_is_not_there(tmp_path):
    """F2, F4: one line on stderr, nothing on stdout, the exit code of bad input."""
    running = started("--store", str(tmp_path / "nowhere"))

    out, errors = running.communicate(timeout=600)

    assert (out, running.returncode) == ("", 3)
    assert errors.startswith("foveate: ")
    assert errors.count("\n") == 1
