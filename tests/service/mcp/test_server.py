"""The server itself, in this process, with the official client: calls that take their time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace

import pytest

from foveate.core.errors import ExternalError, StageBroke
from foveate.service.mcp.results import ToolResult
from foveate.service.mcp.server import build_server, pool_runner
from foveate.service.mcp.stdio import _build_context
from foveate.service.mcp.tool import Tool, ToolContext, ToolLimits
from foveate.service.mcp.tools import build_tools
from foveate.service.worker_pool import WorkerPool
from foveate.stores import open_store
from mcp_agents import Agent, said, session

EMPTY = {"badge": "hybrid", "lexical_matches": 0, "exact": True, "candidates": []}


@pytest.fixture
def desk(tmp_path) -> Iterator[ToolContext]:
    """An empty store."""
    store = open_store(tmp_path / "store")
    yield _build_context(store, None, (), ToolLimits(budget=100))
    store.close()


def every(desk: ToolContext) -> tuple[type[Tool], ...]:
    """The tools of a desk."""
    return build_tools(desk.limits, ["default", "citations"], ["xml"])


@contextmanager
def serving(
    desk: ToolContext, work: Callable[..., ToolResult], pool: WorkerPool, **options
) -> Iterator[Agent]:
    """A session with a server whose search does this."""
    made = [
        type(t.__name__, (t,), {"run": lambda *_: work()}) if t.name == "search" else t
        for t in every(desk)
    ]
    visit = replace(desk, tools=tuple(made))
    with session(build_server(lambda _: visit, pool_runner(pool)), **options) as agent:
        yield agent
        agent.portal.call(pool.close)


def pool() -> WorkerPool:
    """One for a call at a time."""
    return WorkerPool(threads=1, waiting=1, seconds=60)


class Held:
    """Work that waits until it is let go, and counts how often it was begun."""

    def __init__(self) -> None:
        self.begun, self.go, self.count = threading.Event(), threading.Event(), 0

    def __call__(self, *_) -> ToolResult:
        """Wait."""
        self.count += 1
        self.begun.set()
        assert self.go.wait(600)
        return ToolResult(parts=("done",), data=EMPTY)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_call_that_is_cancelled(desk, mode):
    """F4: the protocol goes on at once; the work keeps its place until it is done."""
    held, pool = Held(), WorkerPool(threads=1, waiting=1, seconds=60)
    with serving(desk, held, pool, mode=mode) as agent:
        running = agent.portal.start_task_soon(agent.client.call_tool, "search", {"query": "a"})
        assert held.begun.wait(600)
        running.cancel()
        with pytest.raises(CancelledError):
            running.result(600)
        waiting = agent.portal.start_task_soon(agent.client.call_tool, "search", {"query": "b"})
        while pool.in_use < 2:  # it is on its way
            assert [tool.name for tool in agent.tools()][1] == "search"
        assert "all places are taken" in agent.refused("search", query="c")
        assert held.count == 1
        held.go.set()
        assert said(waiting.result(600)) == ["done"]
        assert said(agent.call("search", query="d")) == ["done"]
        assert held.count == 3


def test_a_call_that_takes_too_long(desk):
    """F4, X3: it is told so, and the next one is served."""
    held, pool = Held(), WorkerPool(threads=2, waiting=0, seconds=0.2)
    with serving(desk, held, pool) as agent:
        told = agent.refused("search", query="a")
        held.go.set()
        pool._seconds = 60
        after = agent.call("assemble", query="a")

    assert told == "it took longer than 0.2 seconds; send less at once"
    assert "Nothing that you may read was found" in said(after)[0]
    assert after.structured_content["token_count"] == 0


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ExternalError("postgresql://u:pw@db/x: /var/lib is away"), "the store cannot be read"),
        (StageBroke("stage /opt/x.py lost c7"), "this failed inside"),
        (KeyError("/etc/passwd"), "this failed inside"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_fault_of_ours_is_told_without_what_is_inside(desk, caplog, error, told):
    """X5, X1, F4: the log has what it was, the agent has not."""

    def broken(*_) -> ToolResult:
        raise error

    with serving(desk, broken, pool()) as agent:
        message = agent.refused("search", query="a")

    assert message.startswith(told)
    assert "/" not in message
    assert str(error) in caplog.text


def test_a_budget_over_the_bound_says_so(desk):
    """B1, F4: where no budget that may be asked for would do, that is what it says."""
    own = [{"text": "word " * 400, "title": "t " * 300, "source": "s " * 300}]
    with session(build_server(lambda _: visit, pool_runner(pool()))) as agent:
        visit = replace(desk, tools=every(desk))
        told = agent.refused("assemble", query="word", recipe="citations", candidates=own)

    assert "more than the 100 that a call may ask for" in told
