"""Planted words: in texts, questions, titles, ids, names, principals, keys. None comes out."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

import model_servers
from otlp_collector import Collector
from service_keys import by, put
from service_process import Service, running

TEXT = "The plantedtext boiler of plantedname holds forty litres of plantedwater. " * 12
CHUNK = {
    "id": "plantedchunk",
    "document_id": "planteddocument",
    "text": TEXT,
    "title": "plantedtitle",
    "source": "plantedsource.md",
    "section": "plantedsection",
    "summary": "plantedsummary",
    "principals": ["plantedprincipal"],
    "metadata": {"plantedkey": "plantedvalue"},
}
QUERY = "What does the plantedquery boiler hold?"
CANDIDATES = [CHUNK, *({**CHUNK, "id": f"planted{n}", "text": f"{n} {TEXT}"} for n in range(5))]
RECIPE = {"name": "plantedrecipe", "stages": ["pack", "order"], "format": "numbered"}


def requests_with_secrets(client: httpx.Client, keys: dict[str, str]) -> list[int]:
    """Every endpoint, with what it takes and with what it does not; the statuses."""
    owner = by(keys["owner"])
    document = {k: v for k, v in CHUNK.items() if k not in {"id", "document_id", "section"}}
    found: list[int] = []

    def send(method: str, path: str, headers: Any = owner, **more: Any) -> httpx.Response:
        agent = {"user-agent": "plantedagent", "tracestate": "planted=1", "baggage": "planted=2"}
        answer = client.request(method, path, headers={**agent, **headers}, **more)
        found.append(answer.status_code)
        return answer

    asked = {"query": QUERY, "candidates": CANDIDATES, "budget": 300}
    send("PUT", "/v1/documents/planted/page.md", json=document)
    send("GET", "/v1/documents/planted/page.md")
    send("GET", "/v1/documents?cursor=planted")
    made = send("POST", "/v1/assemble", json={**asked, "bundle": True}).json()
    send("POST", "/v1/assemble", json={"query": QUERY, "budget": 300})
    send("POST", "/v1/assemble", json={"query": QUERY, "budget": 300})
    send("POST", "/v1/assemble", json={**asked, "recipe": RECIPE})
    send("POST", "/v1/assemble", json={**asked, "budget": 2})
    send("POST", "/v1/assemble", json={**asked, "recipe": "plantedunknown"})
    send("POST", "/v1/assemble", json={**asked, "plantedfield": "plantedvalue"})
    send("POST", "/v1/assemble", json={**asked, "principals": ["plantedother"]})
    send("POST", "/v1/assemble", content=b'{"query": "plantedquery')
    send("POST", "/v1/search", json={"query": QUERY, "where": {"plantedkey": "plantedvalue"}})
    for model in ("fine", "parrot", "plantedmodel"):
        for stream in (False, True):
            send("POST", "/v1/ask", json={
                "question": QUERY, "candidates": CANDIDATES, "model": model, "stream": stream,
            })  # fmt: skip
    send("POST", "/v1/check-answer", json={
        "answer": "plantedanswer [1] [plantedmarker].", "context": made, "query": QUERY,
    })  # fmt: skip
    send("POST", "/v1/replay", json={"bundle": made["bundle"]})
    send("POST", "/v1/replay", json={"bundle": {**made["bundle"], "text": "plantedtext"}})
    send("POST", "/v1/replay", json={"bundle": {"planted": "planted"}})
    send("GET", "/v1/recipes/plantedrecipe")
    send("GET", "/plantedpath?planted=planted")
    send("PLANTED", "/v1/assemble")
    send("POST", "/v1/assemble", {"authorization": "Bearer plantedtoken"}, json=asked)
    send("POST", "/v1/assemble", by(keys["narrow"]), json=asked)
    send("DELETE", "/v1/documents/planted/page.md")
    return found


class House:
    """A service with keys, a collector, and a model that says again what it was asked."""

    def __init__(self, process: Service, collector: Collector, keys: Any) -> None:
        self.process, self.collector, self.keys = process, collector, keys

    def told(self) -> dict[str, str]:
        """All that it says to operators once it has ended: metrics, logs, spans."""
        with self.process.client() as client:
            metrics = client.get("/metrics", headers=by(self.keys["metrics"]))
        assert metrics.status_code == 200, metrics.text
        assert self.process.stop() == 0
        spans = b"".join(self.collector.bodies).decode(errors="replace")
        return {
            "metrics": metrics.text,
            "logs": self.process.said(),
            "spans": spans,
        }


@pytest.fixture
def house(tmp_path, request):
    """One that logs content, or not."""
    keys = tmp_path / "keys.jsonl"
    tokens = {
        "owner": put(keys, tenant="plantedtenant", principals=("plantedprincipal",)),
        "narrow": put(keys, tenant="plantedtenant", scopes=("search",)),
        "metrics": put(keys, tenant="plantedtenant", scopes=("metrics",)),
    }
    collector = Collector()
    with (
        model_servers.several({"fine": "fine", "parrot": "parrots"}) as (_, named),
        running(
            tmp_path / "service",
            store=f"{tmp_path}/stores/{{tenant}}",
            embedder="hashing",
            keys=keys,
            **named,
            otlp=collector.url,
            log_level="DEBUG",
            log_content=request.param,
        ) as process,
    ):
        yield House(process, collector, tokens)
    collector.close()


@pytest.mark.parametrize("house", [False], indirect=True)
def test_nothing_that_is_planted_comes_out(house):
    """F7, X5: every endpoint, used well and badly: no word of a caller in logs, spans, metrics."""
    with house.process.client() as client:
        statuses = requests_with_secrets(client, house.keys)

    told = house.told()

    assert statuses.count(200) >= 10
    assert {400, 401, 403, 404, 405, 422, 502} <= set(statuses)
    for where, said in told.items():
        at = said.casefold().find("planted")
        assert at < 0, f"{where}: {said[max(at - 200, 0) : at + 100]}"
        for token in house.keys.values():
            assert token.rpartition("_")[2] not in said
            assert token not in said
    assert "/v1/documents/{" in told["logs"]
    assert "the model 'parrot' failed: answered 400" in told["logs"]
    assert "foveate.pack" in told["spans"]
    assert 'recipe="inline"' in told["metrics"]


@pytest.mark.parametrize("house", [True], indirect=True)
def test_with_content_it_is_there_and_keys_are_not(house):
    """F7, X4: with `log_content` questions and texts are in logs and spans; keys in neither."""
    with house.process.client() as client:
        requests_with_secrets(client, house.keys)

    told = house.told()

    for where in ("logs", "spans"):
        assert "plantedquery" in told[where]
        assert "plantedtext" in told[where]
    assert "planted" not in told["metrics"]
    for said in told.values():
        for token in house.keys.values():
            assert token.rpartition("_")[2] not in said
    assert any(one.get("answer") for one in house.process.records())
