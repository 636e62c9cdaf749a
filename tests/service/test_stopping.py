"""Computing whose time is over: it ends at its next step, and what was begun is finished."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NoReturn

import pytest
from fastapi import Request

from command_line import CHUNKS, QUERY
from foveate import assemble as assemble_once
from foveate.pipeline.observers import combine_observers
from foveate.service.app_state import AppState
from foveate.service.auth.caller import Caller
from foveate.service.routes import assemble, documents, replay
from foveate.service.settings import Settings
from foveate.service.wire.errors import ProblemError
from foveate.service.wire.requests import DocumentRequest
from foveate.service.worker_pool import (
    DEADLINE,
    ClientDisconnect,
    DeadlineExceeded,
    WorkerPool,
    check_deadline,
    deadline_observer,
)
from service_server import problem, serving

pytestmark = pytest.mark.anyio

OBSERVED = combine_observers(deadline_observer)


def endless(*_: object, **__: object) -> NoReturn:
    """Assembles for ever, step by step."""
    while True:
        assemble_once(QUERY, CHUNKS[:1], observers=OBSERVED)


async def nothing() -> dict[str, object]:
    """A client that stays and says no more."""
    await asyncio.Event().wait()
    return {}


def request() -> Request:
    """A request of that client."""
    return Request({"type": "http"}, nothing)


def freed(work: WorkerPool) -> asyncio.Event:
    """Set while nobody has a place."""
    free = asyncio.Event()
    work.on_change = lambda taken, _: free.clear() if taken else free.set()
    return free


async def test_who_leaves_does_not_leave_work_behind():
    """X2, X4: what a client that is gone had asked for ends after its time as well."""
    work = WorkerPool(threads=1, waiting=0, seconds=0.2)
    free = freed(work)
    leaving = asyncio.Event()

    async def gone() -> dict[str, object]:
        await leaving.wait()
        return {"type": "http.disconnect"}

    asked = Request({"type": "http"}, gone)
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def call() -> NoReturn:
        loop.call_soon_threadsafe(begun.set)
        endless()

    task = asyncio.create_task(work.run(asked, call))
    await begun.wait()
    leaving.set()
    with pytest.raises(ClientDisconnect):
        await task
    await free.wait()
    await work.close()

    assert work.in_use == 0


async def test_who_notices_first_makes_no_difference():
    """X4: 504 too where the work sees that its time is over before the clock of the loop does."""
    work = WorkerPool(threads=1, waiting=0, seconds=60)

    def call() -> None:
        DEADLINE.set(0.0)
        check_deadline()

    with pytest.raises(ProblemError) as refused:
        await work.run(request(), call)
    await work.close()

    assert refused.value.status_code == 504


def test_a_step_that_was_begun_goes_on_to_its_end():
    """X2, X4: what requests share is never left in the middle of a step; the next begins not."""
    done = []

    def step() -> None:
        with OBSERVED("search"):
            token = DEADLINE.set(0.0)
            try:
                done.append("search")
                with pytest.raises(DeadlineExceeded), OBSERVED("pack"):
                    done.append("pack")
            finally:
                DEADLINE.reset(token)

    step()
    check_deadline()

    assert done == ["search"]


@pytest.mark.parametrize(
    ("place", "name", "at", "body"),
    [
        (assemble, "assemble_request", "/v1/assemble", {"query": QUERY, "candidates": CHUNKS[:1]}),
        (replay, "check_bundle", "/v1/replay", {"bundle": {"kind": "x"}}),
        (replay, "check_bundle", "/v1/check-answer", {"answer": "a", "bundle": {"kind": "x"}}),
    ],
)
def test_a_request_that_computes_for_ever_costs_its_own_time(monkeypatch, place, name, at, body):
    """X4: 504, and then others are served, on the only thread that there is."""
    with serving(Settings(store="", seconds=1, waiting=0)) as client:
        with monkeypatch.context() as patched:
            patched.setattr(place, name, endless)
            refused = client.post(at, json=body)
        answer = client.post(at, json=body)
        while answer.status_code in {503, 504}:
            answer = client.post(at, json=body)

    assert refused.status_code == 504
    assert problem(refused)["type"] == "urn:foveate:problem:too-slow"
    assert answer.status_code in {200, 400}


def _assembles(state: AppState, caller: Caller) -> object:
    options = state.request_options.options()
    with state.assembler(caller.tenant, options) as assembler:
        return assembler.assemble(QUERY)


def _writes(state: AppState, caller: Caller) -> object:
    return documents.keep_text(state, caller, "d", DocumentRequest(text="A well is deep."))


@pytest.mark.parametrize("work", [_assembles, _writes])
def test_work_on_a_store_ends_and_gives_the_store_back(
    tmp_path, work: Callable[[AppState, Caller], object]
):
    """X4, X2: over its time nothing more is computed, and the store is not kept."""
    state = AppState(Settings(store=str(tmp_path / "store"), create=True, embedder="hashing"))
    state.observers = OBSERVED
    caller = Caller(key_id=None, tenant="default", principals=(), scopes=frozenset())
    work(state, caller)
    token = DEADLINE.set(0.0)
    with pytest.raises(DeadlineExceeded):
        work(state, caller)
    DEADLINE.reset(token)
    with state.stores.borrow("default") as opened:
        users = opened.users
    asyncio.run(state.close())

    assert users == 1
