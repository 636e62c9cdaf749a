"""`foveate mcp --front`: real servers behind it, a real client before it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import MCPError, StdioServerParameters

from foveate.core.errors import BadOption
from foveate.service.mcp.front import parse_servers
from mcp_agents import INITIALIZE, INITIALIZED, Agent, exchanged, message, said, session, started
from source_tree import PACKAGE

SERVER = Path(__file__).parents[2] / "support" / "small_mcp_server.py"


def command(*nouns: str) -> str:
    """A server's command line."""
    return shlex.join([sys.executable, str(SERVER), *nouns])


@contextmanager
def fronted(
    *servers: str, task: str = "", seconds: float = 60.0, **options: str
) -> Iterator[Agent]:
    """A session with a front for these servers."""
    words = ["-m", "foveate", "mcp", "--task", task, "--timeout", str(seconds)]
    words += ["--tools-budget", "700", *(w for one in servers for w in ("--front", one))]
    env = {"PYTHONPATH": str(PACKAGE.parent)}
    with session(
        StdioServerParameters(command=sys.executable, args=words, env=env), **options
    ) as agent:
        yield agent


def names(agent: Agent) -> list[str]:
    """What the front lists."""
    return [tool.name for tool in agent.tools()]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_few_tools_are_listed_and_the_others_are_found(mode):
    """A11: what was found is listed then; a call reaches its server whether it is listed or not."""
    a, b = command("pump", "lock", "gate"), command("boat", "crane", "pilot")
    with fronted(f"water={a}", f"port={b}", task="Open the lock for boats.", mode=mode) as agent:
        first = names(agent)
        assert len(first) < 8
        assert "open_lock" in first
        assert first[-1] == "find_tools"
        assert "price_pilot" in agent.tools()[-1].description

        [found] = said(agent.call("find_tools", query="What does a pilot cost? price_pilot"))
        assert json.loads(found)[0]["name"] == "price_pilot"
        assert "price_pilot" in names(agent)
        assert said(agent.call("price_pilot", id="7")) == ["price pilot 7"]
        assert said(agent.call("move_gate", id="8")) == ["move gate 8"]
        assert {"price_pilot", "move_gate"} <= set(names(agent))
        assert agent.refused("find_tools", query=" ").startswith("query: give names")
        with pytest.raises(MCPError, match="unknown tool 'sink_boat'; call find_tools"):
            agent.call("sink_boat")


def test_equal_names_are_told_apart_by_the_server():
    """A11: `die` of both; the name alone says which there are."""
    with fronted(f"water={command('pump')}", f"port={command('boat')}") as agent:
        with pytest.raises(MCPError, match="it is one of water__grow, port__grow"):
            agent.call("grow", noun="x")
        assert said(agent.call("port__grow", noun="barge")) == ["grown"]
        [found] = said(agent.call("find_tools", query="inspect_barge"))
        assert json.loads(found)[0]["name"] == "inspect_barge"
        assert said(agent.call("inspect_barge", id="1")) == ["inspect barge 1"]


def test_a_server_that_dies_is_started_again_and_the_others_go_on():
    """A11, X2: its calls say what happened, one line each."""
    with fronted(f"water={command('pump')}", f"port={command('boat')}") as agent:
        agent.tools()
        assert agent.refused("water__die") == "server 'water' ended; the next call starts it again"
        assert said(agent.call("open_boat", id="1")) == ["open boat 1"]
        assert said(agent.call("open_pump", id="2")) == ["open pump 2"]


def test_a_server_that_hangs_or_cannot_be_started_costs_its_own_calls_alone():
    """A11, X2: within the time limit; what it cannot list is said when tools are looked for."""
    lost = f"lost={shlex.join([sys.executable, '-c', 'raise SystemExit(1)'])}"
    mute = f"mute={shlex.join([sys.executable, '-c', 'import time; time.sleep(600)'])}"
    with fronted(
        f"port={command('boat')}", lost, mute, "none=/no/such/program", seconds=8
    ) as agent:
        assert agent.refused("hang") == "server 'port' gave no answer within 8 s"
        assert said(agent.call("open_boat", id="1")) == ["open boat 1"]
        _, *failures = said(agent.call("find_tools", query="open_boat"))
        assert [failure.split("'")[1] for failure in failures] == ["lost", "mute", "none"]
        assert failures[1] == "server 'mute' gave no answer within 8 s"
    with fronted("none=/no/such/program") as agent, pytest.raises(MCPError, match="server 'none'"):
        agent.tools()


def test_a_server_may_be_an_address(service):
    """A11: streamable HTTP, here the service's own tools beside a program's."""
    url = f"docs={service.base_url.join('/mcp')}"
    with fronted(url, command("boat"), task="list the documents") as agent:
        assert "list_documents" in names(agent)
        asked = {"query": "How far?", "candidates": [{"text": "Open it to one bar."}]}
        found = agent.call("assemble", **asked)
        assert "one bar" in said(found)[0]
        assert "query: " in agent.refused("assemble", query=" ")
        assert said(agent.call("open_boat", id="1")) == ["open boat 1"]


def test_servers_are_named_by_hand_or_by_their_command():
    """A11, X2: names are different, and a command can be read."""
    urls = ["https://a.example/mcp?x=1", "local=http://127.0.0.1:8020/mcp"]
    found = parse_servers(["npx -y server /tmp", "env KEY=1 /opt/serve", *urls], 9)
    assert [one.name for one in found] == ["npx", "env", "a-example", "local"]
    assert [one.target for one in found[2:]] == [urls[0], "http://127.0.0.1:8020/mcp"]
    assert found[1].target.args == ["KEY=1", "/opt/serve"]
    for wrong in (["npx a", "npx b"], ["'"], [" "]):
        with pytest.raises(BadOption, match="--front"):
            parse_servers(wrong, 9)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, None])
def test_it_ends_with_its_servers(number):
    """A11, T5: at a signal while somebody holds its input, and when its input ends."""
    running = started("--front", command("boat"))
    call = {"name": "open_boat", "arguments": {"id": str(os.getpid())}}
    exchanged(running, INITIALIZE)
    exchanged(running, INITIALIZED, message("tools/list", {}, 2))
    answer = exchanged(running, message("tools/call", call, 3))
    assert answer["result"]["content"][0]["text"] == f"open boat {os.getpid()}"
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    assert len(children) == 1

    if number is None:
        running.stdin.close()
    else:
        running.send_signal(number)
    assert running.wait(timeout=600) == (128 + number if number else 0)
    assert not Path(f"/proc/{children[0]}").exists()
    for stream in (running.stdin, running.stdout, running.stderr):
        stream.close()
