"""The bounded queue in front of the threads that compute."""

from __future__ import annotations

import asyncio
import gc
import weakref
from functools import partial
from threading import Event

import pytest
from fastapi import Request

from foveate.core.errors import BadInput
from foveate.service.wire.errors import ProblemError
from foveate.service.worker_pool import ClientDisconnect, WorkerPool, wait_outside


class Client:
    """Somebody who asks, and who may go away."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.request = Request({"type": "http"}, self._receive)

    async def _receive(self) -> dict[str, object]:
        await self.gone.wait()
        return {"type": "http.disconnect"}


class Job:
    """A call that says when it has begun, and ends when it is let."""

    def __init__(self) -> None:
        self.begun = Event()
        self.may_end = Event()

    def __call__(self) -> str:
        """Begin, and end when it may."""
        self.begun.set()
        assert self.may_end.wait(30)
        return "done"

    async def running(self) -> None:
        """Until it has begun."""
        assert await asyncio.to_thread(self.begun.wait, 30)


class Body:
    """Something large."""

    def read(self) -> None:
        """Look at it."""


pytestmark = pytest.mark.anyio


async def test_one_too_many_is_told_at_once():
    """X4: 503 with when to come again, as long as all places are taken."""
    work, first, second = WorkerPool(threads=1, waiting=1, seconds=30), Job(), Job()
    one = asyncio.create_task(work.run(Client().request, first))
    await first.running()
    two = asyncio.create_task(work.run(Client().request, second))
    await asyncio.sleep(0)
    with pytest.raises(ProblemError) as refused:
        await work.run(Client().request, Job())
    first.may_end.set()
    second.may_end.set()

    assert (await one, await two) == ("done", "done")
    assert refused.value.status_code == 503
    assert refused.value.headers["Retry-After"] == "1"
    assert await work.run(Client().request, lambda: 7) == 7
    await work.close()


async def test_who_goes_away_gives_up_the_place():
    """X2: a call that waits is called off with its client; it never begins."""
    work, first, second, leaving = (
        WorkerPool(threads=1, waiting=1, seconds=30),
        Job(),
        Job(),
        Client(),
    )
    one = asyncio.create_task(work.run(Client().request, first))
    await first.running()
    two = asyncio.create_task(work.run(leaving.request, second))
    await asyncio.sleep(0)
    assert work.in_use == 2
    leaving.gone.set()
    with pytest.raises(ClientDisconnect):
        await two
    await asyncio.sleep(0)
    assert work.in_use == 1
    first.may_end.set()
    await one
    await work.close()
    assert not second.begun.is_set()


async def test_what_runs_keeps_its_place():
    """X4: over its time it is answered with 504, and counts as long as it runs."""
    work, job = WorkerPool(threads=1, waiting=0, seconds=0.05), Job()
    with pytest.raises(ProblemError) as late:
        await work.run(Client().request, job)
    with pytest.raises(ProblemError) as refused:
        await work.run(Client().request, Job())
    assert (late.value.status_code, refused.value.status_code) == (504, 503)
    assert work.in_use == 1
    job.may_end.set()
    await work.close()
    await asyncio.sleep(0)
    assert work.in_use == 0


async def test_what_fails_behind_its_time_is_not_logged(caplog):
    """X4: nobody waits for it any more, and its words may be of a document."""
    work, job = WorkerPool(threads=1, waiting=0, seconds=0.05), Job()

    def fails() -> None:
        job()
        raise BadInput("the words of a document")

    with pytest.raises(ProblemError):
        await work.run(Client().request, fails)
    job.may_end.set()
    await work.close()
    await asyncio.sleep(0)
    gc.collect()
    assert "words" not in caplog.text


async def test_who_waits_too_long_is_told_to_come_again():
    """X4: over its time before it begins it is 503, and it never begins."""
    work, first, second = WorkerPool(threads=1, waiting=1, seconds=0.05), Job(), Job()
    one = asyncio.create_task(work.run(Client().request, first))
    await first.running()
    with pytest.raises(ProblemError) as refused:
        await work.run(Client().request, second)
    first.may_end.set()
    with pytest.raises(ProblemError):
        await one
    await work.close()
    assert refused.value.status_code == 503
    assert "Retry-After" in refused.value.headers
    assert not second.begun.is_set()


@pytest.mark.parametrize(
    "error", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, StopIteration]
)
async def test_what_would_end_the_service_is_an_error_like_others(error):
    """X3: a plugin may call `sys.exit`, or raise what no task can."""
    work = WorkerPool(threads=1, waiting=0, seconds=30)

    def fails() -> None:
        raise error

    with pytest.raises(RuntimeError, match=error.__name__):
        await work.run(Client().request, fails)
    assert await work.run(Client().request, lambda: 7) == 7
    await work.close()


async def test_who_waits_outside_gives_its_turn_to_others_and_comes_back_first():
    """X3, X6: on one thread, all others run meanwhile; those that wait are behind it then."""
    work, job, order = WorkerPool(threads=1, waiting=1, seconds=30), Job(), list[str]()

    def goes_outside() -> None:
        with wait_outside():
            job()
        order.append("back")

    one = asyncio.create_task(work.run(Client().request, goes_outside))
    await job.running()
    assert [await work.run(Client().request, int) for _ in range(3)] == [0, 0, 0]
    second = Job()
    two = asyncio.create_task(work.run(Client().request, second))
    await second.running()
    three = asyncio.create_task(work.run(Client().request, lambda: order.append("new")))
    job.may_end.set()
    await asyncio.sleep(0.1)
    second.may_end.set()
    await asyncio.gather(one, two, three)
    await work.close()
    assert order == ["back", "new"]
    assert work.in_use == 0


async def test_a_thread_goes_from_lane_to_lane():
    """X6: on one thread too, who comes later is behind one job of the others, not all of them."""
    work, first, order = WorkerPool(threads=1, waiting=9, seconds=30), Job(), list[str]()
    tasks = [asyncio.create_task(work.run(Client().request, first, lane="one"))]
    await first.running()
    for name in ("one", "one", "one", "two", "two"):
        call = partial(order.append, name)
        tasks.append(asyncio.create_task(work.run(Client().request, call, lane=name)))
    await asyncio.sleep(0)
    first.may_end.set()
    await asyncio.gather(*tasks)
    await work.close()
    assert order == ["two", "one", "two", "one", "one"]


async def test_a_full_lane_refuses_its_own_alone():
    """X6, X4: the places of one tenant are taken by itself only."""
    work, first, second = WorkerPool(threads=2, waiting=1, seconds=30), Job(), Job()
    tasks = [asyncio.create_task(work.run(Client().request, first, lane="one"))]
    await first.running()
    tasks.append(asyncio.create_task(work.run(Client().request, second, lane="one")))
    await asyncio.sleep(0)
    with pytest.raises(ProblemError) as refused:
        await work.run(Client().request, Job(), lane="one")
    other = await work.run(Client().request, lambda: 7, lane="two")
    first.may_end.set()
    second.may_end.set()
    await asyncio.gather(*tasks)
    await work.close()
    assert (refused.value.status_code, other) == (503, 7)


async def test_what_is_called_off_in_a_lane_is_let_go_and_the_next_one_begins():
    """X2, X6: it never begins, and nothing that it holds stays behind."""
    work, first, leaving = WorkerPool(threads=2, waiting=9, seconds=30), Job(), Client()
    body = Body()
    held = weakref.ref(body)
    one = asyncio.create_task(work.run(Client().request, first, lane="one"))
    await first.running()
    two = asyncio.create_task(work.run(leaving.request, partial(body.read), lane="one"))
    three = asyncio.create_task(work.run(Client().request, lambda: 7, lane="one"))
    del body
    await asyncio.sleep(0)
    leaving.gone.set()
    await asyncio.wait([two])
    assert isinstance(two.exception(), ClientDisconnect)
    del two
    gc.collect()
    assert held() is None
    first.may_end.set()
    assert (await one, await three) == ("done", 7)
    await work.close()


async def test_what_waits_in_a_lane_at_the_end_is_called_off():
    """X3: closing finishes what runs, and waits for nothing else."""
    work, first, second = WorkerPool(threads=2, waiting=9, seconds=30), Job(), Job()
    one = asyncio.create_task(work.run(Client().request, first, lane="one"))
    await first.running()
    two = asyncio.create_task(work.run(Client().request, second, lane="one"))
    await asyncio.sleep(0)
    closing = asyncio.create_task(work.close())
    with pytest.raises(asyncio.CancelledError):
        await two
    first.may_end.set()
    await closing
    assert await one == "done"
    assert not second.begun.is_set()


async def test_a_closed_pool_refuses_each_call_of_a_lane():
    """X3: a call that the pool does not take leaves the lane free for the next."""
    work = WorkerPool(threads=1, waiting=9, seconds=30)
    await work.close()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="after shutdown"):
            await asyncio.wait_for(work.run(Client().request, int, lane="one"), 30)

    assert work.in_use == 0
