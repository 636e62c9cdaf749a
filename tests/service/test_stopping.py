"""Computing whose time is over: it ends, but for what others share."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from threading import Event, Thread
from typing import NoReturn

import httpx
import pytest
from fastapi import Request

from command_line import CHUNKS, QUERY
from foveate.service.cancellation import CancellableCall, Cancelled, cancellation_observer, shield
from foveate.service.problems import ProblemError
from foveate.service.routes import assemble, replay
from foveate.service.settings import Settings
from foveate.service.worker_pool import ClientDisconnect, WorkerPool
from service_server import problem, serving


def endless(*_: object, **__: object) -> NoReturn:
    """Computes for ever."""
    while True:
        pass


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


def started(job: CancellableCall[object]) -> tuple[Thread, list[BaseException]]:
    """The job on a thread of its own, and what it raises."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            job()
        except BaseException as error:  # noqa: BLE001  # for the thread that waits
            raised.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    return thread, raised


def test_what_computes_for_ever_gives_its_place_back():
    """X4: after its time the thread is free for whoever comes next."""

    async def scene() -> object:
        work = WorkerPool(threads=1, waiting=0, seconds=0.05)
        free = freed(work)
        with pytest.raises(ProblemError) as refused:
            await work.run(request(), endless, stops=True)
        await free.wait()
        slow = WorkerPool(threads=1, waiting=0, seconds=60)
        again = await slow.run(request(), lambda: 7, stops=True)
        await work.close()
        await slow.close()
        return refused.value.status_code, again

    assert asyncio.run(scene()) == (504, 7)


def test_who_leaves_does_not_leave_work_behind():
    """X2, X4: what a client that is gone had asked for ends after its time as well."""

    async def scene() -> int:
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

        task = asyncio.create_task(work.run(asked, call, stops=True))
        await begun.wait()
        leaving.set()
        with pytest.raises(ClientDisconnect):
            await task
        await free.wait()
        await work.close()
        return work.in_use

    assert asyncio.run(scene()) == 0


def test_what_others_share_goes_on_to_its_end():
    """X2, X4: within `unstopped` nothing is raised; behind it, soon."""
    inside, leave, left = Event(), Event(), Event()

    def call() -> NoReturn:
        with shield(), cancellation_observer("search"):
            inside.set()
            while not leave.is_set():
                pass
            left.set()
        endless()

    job = CancellableCall(call)
    thread, raised = started(job)
    assert inside.wait(60)
    during = [job.cancel() for _ in range(100)]
    leave.set()
    while not job.cancel():
        assert thread.is_alive()
    thread.join(60)

    assert not any(during)
    assert left.is_set()
    assert [type(error) for error in raised] == [Cancelled]


def test_what_is_done_is_not_stopped_nor_is_what_comes_after_it():
    """X2: a thread that went on to other work is left alone."""
    job = CancellableCall(lambda: 7)

    assert job() == 7
    assert not job.cancel()
    assert sum(range(10_000)) == 49_995_000


def test_a_pure_step_is_stopped_and_a_call_to_the_outside_is_not():
    """X2: as the watcher of every assembly has it."""
    seen = []

    def call() -> None:
        for name in ("pack", "keep"):
            with cancellation_observer(name):
                seen.append(job._shields)

    job = CancellableCall(call)
    job()

    assert seen == [0, 1]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[httpx.Client, pytest.MonkeyPatch]]:
    """A service whose requests have a second."""
    with serving(Settings(store="", seconds=1, waiting=0)) as client:
        yield client, monkeypatch


@pytest.mark.parametrize(
    ("place", "name", "at", "body"),
    [
        (assemble, "assemble_request", "/v1/assemble", {"query": QUERY, "candidates": CHUNKS[:1]}),
        (replay, "run_replay", "/v1/replay", {"bundle": {"kind": "x"}}),
        (replay, "run_check", "/v1/check-answer", {"answer": "a", "bundle": {"kind": "x"}}),
    ],
)
def test_a_request_that_computes_for_ever_costs_its_own_time(hasty, place, name, at, body):
    """X4: 504, and then others are served, on the only thread that there is."""
    client, patch = hasty
    with patch.context() as patched:
        patched.setattr(place, name, endless)
        refused = client.post(at, json=body)
    answer = client.post(at, json=body)
    while answer.status_code in {503, 504}:
        answer = client.post(at, json=body)

    assert refused.status_code == 504
    assert problem(refused)["type"] == "urn:foveate:problem:too-slow"
    assert answer.status_code in {200, 400}


def test_what_ends_in_time_leaves_the_interpreter_alone(monkeypatch):
    """F3, X4: nothing is asked of it, for it would look for an exception at every later step."""
    asked: list[int] = []
    monkeypatch.setattr("foveate.service.cancellation._raise_in_thread", asked.append)

    found = [CancellableCall(lambda: 7)() for _ in range(3)]

    assert found == [7, 7, 7]
    assert asked == []


def test_what_is_told_to_end_as_it_ends_goes_on_with_other_work():
    """X4: whenever it is told, nothing is raised behind it, and steps can be counted after it."""
    for _ in range(300):
        begun = Event()
        job: CancellableCall[int] = CancellableCall(
            lambda begun=begun: begun.set() or sum(range(500))
        )
        thread, raised = started(job)
        begun.wait()
        job.cancel()
        thread.join()
        assert [type(one) for one in raised] in ([], [Cancelled])
    steps: list[str] = []
    sys.setprofile(lambda _, event, __: steps.append(event))
    str.upper("a")
    sys.setprofile(None)

    assert 0 < len(steps) < 10
