"""Metrics of several processes: summed, private, and gone when the service is."""

from __future__ import annotations

import os
import shutil
import signal
import stat

import httpx

from foveate.service.observe.metrics import (
    FOLDER_VARIABLE,
    PREFIX,
    shared_metrics_folder,
)
from service_metrics import Scrape, parsed
from service_process import Service, running

BODY = {"query": "Who?", "candidates": [{"text": "Ada wrote the first programme. " * 9}]}


def asked(service: Service, path: str, body: object = None) -> httpx.Response:
    """A request on a connection of its own, so that any process may get it."""
    with service.client() as client:
        return client.post(path, json=body) if body else client.get(path)


def test_processes_count_together(tmp_path):
    """F7: whichever process is asked tells of all; a killed one's counts stay, its places go."""
    with running(tmp_path, environment={"TMPDIR": str(tmp_path)}, workers=2) as service:
        for _ in range(24):
            assert asked(service, "/v1/assemble", BODY).status_code == 200
        (folder,) = tmp_path.glob(f"{PREFIX}*")
        mode = stat.S_IMODE(folder.stat().st_mode)
        at_work = {path.stem.rpartition("_")[2] for path in folder.glob("counter_*.db")}
        first = parsed(asked(service, "/metrics").text)
        victim = int(min(at_work))
        os.kill(victim, signal.SIGKILL)
        # It is gone once whoever started it has noticed; another one is started meanwhile.
        tries = (_scraped(service) for _ in range(10_000))
        later = next(
            found for found in tries if found and not list(folder.glob(f"gauge_live*_{victim}.db"))
        )
        code = service.stop()

    assert mode == 0o700
    assert len(at_work) >= 1
    name = "foveate_requests_total"
    assert first.value(name, route="/v1/assemble", status="200") == 24
    assert later.value(name, route="/v1/assemble", status="200") == 24
    assert first.value("foveate_contexts_total") == 24
    assert first.value("foveate_requests_in_flight") == 1
    assert first.value("foveate_build_info") == 1
    assert later.value("foveate_requests_in_flight") == 1  # not the killed one's
    assert code == 0
    assert list(tmp_path.glob(f"{PREFIX}*")) == []


def test_a_folder_that_is_cleaned_away_stops_nothing(tmp_path):
    """F7, X3: where the folder of the metrics is cleaned away, requests and scrapes go on."""
    variables = {"TMPDIR": str(tmp_path)}
    with running(tmp_path, environment=variables, workers=2, threads=2) as service:
        (folder,) = tmp_path.glob(f"{PREFIX}*")
        shutil.rmtree(folder)
        statuses = {asked(service, "/v1/assemble", BODY).status_code for _ in range(12)}
        scrape = asked(service, "/metrics").status_code
        code = service.stop()

    assert statuses == {200}
    assert scrape == 200
    assert code == 0


def _scraped(service: Service) -> Scrape | None:
    """A scrape; None where the connection went down with a process."""
    try:
        answer = asked(service, "/metrics")
    except httpx.TransportError:
        return None
    assert answer.status_code == 200
    return parsed(answer.text)


def test_an_operators_folder_is_used_and_left(tmp_path, monkeypatch):
    """F7: where the environment names a folder, it is that one, and it stays."""
    own = tmp_path / "metrics"
    monkeypatch.setenv(FOLDER_VARIABLE, str(own))

    with shared_metrics_folder():
        assert own.is_dir()

    assert own.is_dir()
    assert os.environ[FOLDER_VARIABLE] == str(own)
