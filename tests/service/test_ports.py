"""A reranker and a compressor that the settings name, for every context of the service."""

from __future__ import annotations

import pytest

from foveate import plugins
from foveate.core.errors import UnknownName
from foveate.service.app import create_app
from foveate.service.settings import Settings
from model_servers import serving as model_server
from service_server import filled, problem, serving

ANSWER = "The valve opens at three bar when the lamp is red."
FILLER = "The house stands by the river, and was painted white in the spring of that year. " * 3
SHORT = {
    "name": "short",
    "format": "numbered",
    "stages": [
        {"use": "compress", "offer": "llm_extract", "min_tokens": 5},
        {"use": "pack", "policy": "greedy"},
    ],
}


class LastFirst:
    """Prefers what the search liked least."""

    name = "last-first@1"

    def rerank(self, query: str, texts: list[str]) -> list[float]:
        """A score that rises with the place."""
        return [float(place) for place in range(len(texts))]


class Exits:
    """Ends the program, as some libraries do."""

    name = "exits@1"

    def rerank(self, query: str, texts: list[str]) -> list[float]:
        """End it."""
        raise SystemExit(query)


def test_a_reranker_that_ends_the_program_ends_its_request_alone(tmp_path, monkeypatch, caplog):
    """X3: the request is a fault, logged by type; the next ones are answered."""
    monkeypatch.setattr(plugins, "reranker", lambda _: Exits())
    body = {"query": "Which pressure is right?"}
    with serving(Settings(store=str(filled(tmp_path)), reranker="exits")) as client:
        failed = [client.post("/v1/assemble", json=body) for _ in range(3)]
        searched = client.post("/v1/search", json=body)

    assert [problem(one)["type"] for one in failed] == ["urn:foveate:problem:fault"] * 3
    assert searched.status_code == 200
    assert "SystemExit" in caplog.text


def test_the_reranker_of_the_settings_orders_contexts(tmp_path, monkeypatch):
    """T5, F3: its order and its note are in the trace; a search keeps its own."""
    named = []
    monkeypatch.setattr(plugins, "reranker", lambda name: named.append(name) or LastFirst())
    store = str(filled(tmp_path))
    body = {"query": "Which pressure is right?", "limit": 3}

    with serving(Settings(store=store)) as client:
        plain = client.post("/v1/search", json=body).json()
    with serving(Settings(store=store, reranker="last-first")) as client:
        searched = client.post("/v1/search", json=body).json()
        context = client.post("/v1/assemble", json=body).json()

    assert named == ["last-first"]
    assert context["trace"][0]["notes"]["reranked_by"] == "last-first@1"
    assert searched["candidates"] == plain["candidates"]


def test_the_compressor_of_the_settings_serves_recipes_that_ask_for_it(monkeypatch):
    """S8, F3: the model's copy is shown; a recipe that asks no model works as without it."""
    monkeypatch.setenv("FOVEATE_MODEL_KEY", "sk-planted-77ab12")
    candidates = [
        {"id": "c1", "source": "a.md", "score": 1.0, "text": f"{FILLER}{ANSWER} {FILLER}"}
    ]
    body = {"query": "When does the valve open?", "candidates": candidates}

    with (
        model_server("openai", pieces=(ANSWER,)) as model,
        serving(Settings(store="", compressor=model.name)) as client,
    ):
        short = client.post("/v1/assemble", json={**body, "recipe": SHORT, "budget": 30})
        asked = len(model.headers)
        whole = client.post("/v1/assemble", json=body)

    assert (short.json()["text"], asked) == (f"[1] Source: a.md\n… {ANSWER} …", 1)
    assert (whole.status_code, len(model.headers)) == (200, asked)


@pytest.mark.parametrize("setting", ["reranker", "compressor"])
def test_a_name_that_does_not_exist_stops_the_start(setting):
    """F3: before the first request."""
    with pytest.raises(UnknownName, match="no-such"):
        create_app(Settings(store="", **{setting: "no-such"}))
