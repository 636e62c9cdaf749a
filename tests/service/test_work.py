"""The bounded queue in front of the threads that compute."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Event

import pytest
from fastapi import Request

from foveate.core.errors import BadInput
from foveate.service.problems import ProblemError
from foveate.service.work import Gone, Work


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


def run(scene: Callable[[], object]) -> None:
    """Play a scene in an event loop."""
    asyncio.run(scene())


def test_one_too_many_is_told_at_once():
    """X4: 503 with when to come again, as long as all places are taken."""

    async def scene():
        work, first, second = Work(threads=1, waiting=1, seconds=30), Job(), Job()
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

    run(scene)


def test_who_goes_away_gives_up_the_place():
    """X2: a call that waits is called off with its client; it never begins."""

    async def scene():
        work, first, second, leaving = (
            Work(threads=1, waiting=1, seconds=30),
            Job(),
            Job(),
            Client(),
        )
        one = asyncio.create_task(work.run(Client().request, first))
        await first.running()
        two = asyncio.create_task(work.run(leaving.request, second))
        await asyncio.sleep(0)
        assert work.taken == 2
        leaving.gone.set()
        with pytest.raises(Gone):
            await two
        await asyncio.sleep(0)
        assert work.taken == 1
        first.may_end.set()
        await one
        await work.close()
        assert not second.begun.is_set()

    run(scene)


def test_what_runs_keeps_its_place():
    """X4: over its time it is answered with 504, and counts as long as it runs."""

    async def scene():
        work, job = Work(threads=1, waiting=0, seconds=0.05), Job()
        with pytest.raises(ProblemError) as late:
            await work.run(Client().request, job)
        with pytest.raises(ProblemError) as refused:
            await work.run(Client().request, Job())
        assert (late.value.status_code, refused.value.status_code) == (504, 503)
        assert work.taken == 1
        job.may_end.set()
        await work.close()
        await asyncio.sleep(0)
        assert work.taken == 0

    run(scene)


def test_who_waits_too_long_is_told_to_come_again():
    """X4: over its time before it begins it is 503, and it never begins."""

    async def scene():
        work, first, second = Work(threads=1, waiting=1, seconds=0.05), Job(), Job()
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

    run(scene)


def test_what_a_call_raises_is_raised():
    """X1: errors come through, and their place is free."""

    async def scene():
        work = Work(threads=1, waiting=0, seconds=30)

        def fails() -> None:
            raise BadInput("no")

        with pytest.raises(BadInput):
            await work.run(Client().request, fails)
        await asyncio.sleep(0)
        assert work.taken == 0
        await work.close()

    run(scene)
