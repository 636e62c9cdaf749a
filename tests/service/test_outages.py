"""One slow part stops nothing else: a frozen server, locked tables, a reranker that hangs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from time import monotonic
from typing import Any

import httpx
import psutil
import psycopg

from foveate import plugins
from foveate.service.settings import Settings
from postgres_server import serving as postgres_serving
from service_keys import by, put
from service_server import serving

WAIT, RERANKING = 2, 5
STEADY = 60
"""Requests of each kind that are measured."""
PAGES = {f"page{n}": f"Page {n}: the pump starts at {n} bar. " * 20 for n in range(10)}
CANDIDATES = [{"text": text, "id": name, "score": 1.0} for name, text in PAGES.items()]


class House:
    """A service for the tenants acme and globex, each with a schema of its own."""

    def __init__(self, client: httpx.Client, keys: dict[str, str]) -> None:
        self.client, self._keys = client, keys

    def timed(self, tenant: str, path: str, **body: Any) -> tuple[int, float, httpx.Response]:
        """One request: its status, its seconds, the answer."""
        begun = monotonic()
        value = {"query": "When does the pump start?", **body}
        answer = self.client.post(path, json=value, headers=by(self._keys[tenant]))
        return answer.status_code, monotonic() - begun, answer

    def search(self, tenant: str) -> tuple[int, float]:
        """A search in the tenant's store."""
        return self.timed(tenant, "/v1/search")[:2]

    def bring(self, tenant: str) -> tuple[int, float]:
        """A context of candidates that are sent along."""
        return self.timed(tenant, "/v1/assemble", candidates=CANDIDATES)[:2]

    def steady(self, ask: Callable[[str], tuple[int, float]], tenant: str) -> float:
        """The slowest but one of many requests in a row, all of which must be answered."""
        found = [ask(tenant) for _ in range(STEADY)]
        assert {status for status, _ in found} == {200}
        return sorted(seconds for _, seconds in found)[-2]

    @contextmanager
    def asking(self, *tenants: str) -> Iterator[list[tuple[int, float]]]:
        """Searches of these tenants all the while, eight at once; what came of them."""
        over, found = Event(), list[tuple[int, float]]()

        def go_on(tenant: str) -> None:
            while not over.is_set():
                found.append(self.search(tenant))
                over.wait(0.25)  # refused ones cost little, so there would be many more of them

        with ThreadPoolExecutor() as pool:
            jobs = [pool.submit(go_on, tenant) for tenant in tenants * (8 // len(tenants))]
            try:
                yield found
            finally:
                over.set()
        assert [job.result() for job in jobs]

    def recovers(self, *tenants: str) -> float:
        """Seconds until all of them are answered again."""
        begun = monotonic()
        while {self.search(tenant)[0] for tenant in tenants} != {200}:
            assert monotonic() - begun < 60
        return monotonic() - begun

    def failing(self) -> list[str]:
        """What `/readyz` says of the parts; the process stays ready."""
        answer = self.client.get("/readyz")
        assert answer.status_code == 200
        found: list[str] = answer.json().get("failing", [])
        return found


@contextmanager
def house(url: str, tmp_path: Any, **more: Any) -> Iterator[House]:
    """The service over the server, filled."""
    path = tmp_path / "keys.jsonl"
    keys = {name: put(path, tenant=name) for name in ("acme", "globex")}
    settings = Settings(
        store=f"{url}&schema=t_{{tenant}}&wait={WAIT}", create=True, embedder="hashing",
        keys=path, rate="", cache="", **more,
    )  # fmt: skip
    with serving(settings) as client:
        for key in keys.values():
            for name, text in PAGES.items():
                answer = client.put(f"/v1/documents/{name}", json={"text": text}, headers=by(key))
                assert answer.status_code == 200, answer.text
        yield House(client, keys)


def bounded(found: list[tuple[int, float]]) -> str:
    """The affected requests were refused in time, as a figure."""
    assert found
    assert {status for status, _ in found} == {503}
    slowest = max(seconds for _, seconds in found)
    assert slowest < WAIT + 1
    return f"{len(found)} affected: 503, slowest {slowest:.2f} s"


def within_twice(usual: float, during: float) -> str:
    """Twice the usual time, or a second on a busy machine, as a figure; who waits takes two."""
    assert during <= max(2 * usual, 1.0)
    return f"{1_000 * usual:.0f} → {1_000 * during:.0f} ms"


def test_locked_tables_of_a_tenant_hold_up_that_tenant_alone(tmp_path, postgres, figure):
    """X3, X6: its requests get 503 in time; others, and those with candidates, go on."""
    with house(postgres, tmp_path) as found:
        with found.asking("acme"):
            usual = found.steady(found.search, "globex"), found.steady(found.bring, "acme")
        with psycopg.connect(postgres) as maintenance:
            maintenance.execute("LOCK TABLE t_acme.chunks, t_acme.documents, t_acme.scan")
            with found.asking("acme") as affected:
                during = found.steady(found.search, "globex"), found.steady(found.bring, "acme")
            while "store" not in found.failing():
                affected.append(found.search("acme"))
            refused = found.timed("acme", "/v1/search")
            maintenance.rollback()
        back = found.recovers("acme")
    said = [within_twice(*pair) for pair in zip(usual, during, strict=True)]
    assert refused[0] == 503
    assert refused[1] < WAIT
    assert "Retry-After" in refused[2].headers
    figure(f"locked tables: {bounded(affected)}; others {said[0]}; candidates {said[1]}; "
           f"back after {back:.1f} s")  # fmt: skip


def test_a_frozen_server_holds_up_what_needs_it(tmp_path, figure):
    """X3, X6: searches and writes of all tenants get 503 in time; candidates go on."""
    with postgres_serving() as url, house(url, tmp_path) as found:
        with found.asking("acme", "globex"):
            usual = found.steady(found.bring, "acme")
        with psycopg.connect(url) as connection:
            own = psutil.Process(connection.info.backend_pid)
            server = own.parent()
        assert server is not None
        processes = [server, *server.children(recursive=True)]
        for process in processes:
            process.suspend()
        try:
            with found.asking("acme", "globex") as affected:
                during = found.steady(found.bring, "globex")
            while "store" not in found.failing():
                affected.append(found.search("acme"))
            begun = monotonic()
            gone = found.client.delete("/v1/documents/page1", headers=by(found._keys["acme"]))
            affected.append((gone.status_code, monotonic() - begun))
            me = found.client.get("/v1/me", headers=by(found._keys["acme"]))
        finally:
            for process in reversed(processes):
                process.resume()
        back = found.recovers("acme", "globex")
    assert me.json()["store"]
    figure(f"frozen server: {bounded(affected)}; candidates {within_twice(usual, during)}; "
           f"back after {back:.1f} s")  # fmt: skip


class Hanging:
    """A reranker that never answers while it is told to hang."""

    name = "hanging@1"

    def __init__(self) -> None:
        self.free = Event()

    def rerank(self, query: str, texts: list[str]) -> list[float]:
        """Scores, some time."""
        assert self.free.wait(60)
        return [float(place) for place in range(len(texts))]


def test_a_reranker_that_hangs_is_left_out(tmp_path, monkeypatch, figure):
    """X3, X6: its requests keep the search's order after half their time; searches go on."""
    hanging = Hanging()
    monkeypatch.setattr(plugins, "reranker", lambda _: hanging)
    path = tmp_path / "keys.jsonl"
    keys = {"acme": put(path, tenant="acme")}
    settings = Settings(
        store=str(tmp_path / "{tenant}"), create=True, embedder="hashing", keys=path, rate="",
        reranker="hanging", seconds=2 * RERANKING,
    )  # fmt: skip
    with serving(settings) as client:
        found = House(client, keys)
        for name, text in PAGES.items():
            client.put(f"/v1/documents/{name}", json={"text": text}, headers=by(keys["acme"]))
        usual = found.steady(found.search, "acme")
        with ThreadPoolExecutor() as pool:
            first = [pool.submit(found.bring, "acme") for _ in range(8)]
            during = found.steady(found.search, "acme")
            held = [job.result() for job in first]
        after = found.timed("acme", "/v1/assemble")
        failing = found.failing()
        hanging.free.set()
        while found.failing():
            found.bring("acme")
        again = found.timed("acme", "/v1/assemble")
    assert {status for status, _ in held} == {200}
    assert max(seconds for _, seconds in held) < RERANKING + 2
    assert after[:1] == (200,)
    assert after[1] < 2
    assert failing == ["reranker"]
    assert "not_reranked" in after[2].json()["trace"][0]["notes"]
    assert again[2].json()["trace"][0]["notes"]["reranked_by"] == "hanging@1"
    figure(f"hanging reranker: searches {within_twice(usual, during)}; contexts after "
           f"{max(seconds for _, seconds in held):.2f} s, then {after[1]:.2f} s")  # fmt: skip
