"""A service that is killed, or told to stop, while writers are at work."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from http_wire import ask
from service_kills import Noted, kill_often, killed, settle, under_load, wait_for_end
from service_process import running

SMALL: dict[str, Any] = {"embedder": "hashing", "size": 16, "overlap": 0}


def test_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """T5, F3: the store is whole, holds every acknowledged write, and is served again."""
    tally = kill_often(tmp_path, 2, seed=1)

    assert tally.kills == 2
    assert tally.acknowledged >= 10


def test_a_killed_worker_comes_back_and_ends_with_its_starter(tmp_path: Path) -> None:
    """T5, F3: under load the other one goes on; none goes on alone; nothing is lost by either."""
    noted = Noted()
    store = tmp_path / "store"
    with running(tmp_path / "service", store=store, workers=2, **SMALL) as service:

        def kill_one() -> None:
            noted.wait_for(10)
            before = set(service.workers())
            one = min(before)
            os.kill(one, signal.SIGKILL)
            wait_for_end(one)
            while len(now := set(service.workers())) < 2 or now == before:
                ask(service.address, "GET", "/healthz")

        writers = under_load(service, noted, 3, kill_one)
        settle(store, writers, noted)
        writers = under_load(service, noted, 6, lambda: killed(service, noted, 20))
        settle(store, writers, noted)

    assert noted.wrong == []
    assert noted.acknowledged >= 20


def test_whoever_goes_on_while_it_stops_gets_whole_answers_or_none(tmp_path: Path) -> None:
    """F3, T5: no answer is cut, no acknowledged write is lost, the end is 0."""
    noted = Noted()
    store = tmp_path / "store"
    with running(tmp_path / "service", store=store, **SMALL) as service:

        def stop() -> None:
            noted.wait_for(20)
            service.tell()
            assert service.ended() == 0

        writers = under_load(service, noted, 5, stop)
        faults = service.said().count("Traceback")

    assert noted.wrong == []
    assert faults == 0
    settle(store, writers, noted)
    assert noted.acknowledged >= 20
