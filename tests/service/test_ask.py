"""`POST /v1/ask`, from outside, before models that speak as real ones do."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

import model_servers
from command_line import CHUNKS, QUERY
from foveate.service.settings import Settings
from local_model import weights
from service_server import problem, serving

PIECES = ("Keep it between ", "one and two bar [", "1]. It is of steel [9].")
KEEP = {"source": "boiler.md", "text": "Keep the pressure between one and two bar.", "score": 1.0}
BEHAVIOURS = {"fine": "fine", "refuses": "refuses", "stuck": "stuck_midway", "empty": "empty"}


@pytest.fixture(scope="module")
def named():
    """Models that answer, refuse, hang midway, and say nothing; and their settings."""
    with model_servers.several(BEHAVIOURS, pieces=PIECES) as found:
        yield found


@pytest.fixture(scope="module")
def models(named):
    """The servers by name."""
    return named[0]


@pytest.fixture(scope="module")
def asking(named, filled_store):
    """A client of a service that may ask these, one answer at a time."""
    settings = Settings(
        store=str(filled_store),
        embedder="hashing",
        principals=("staff",),
        asking=1,
        answer_seconds=20,
        **named[1],
    )
    with serving(settings) as client:
        yield client


def events(text: str) -> list[tuple[str, Any]]:
    """(name, data) of each event of a finished stream."""
    found = []
    for block in text.strip().split("\n\n"):
        if not block.startswith(":"):
            name, data = block.split("\n")
            found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_an_answer_comes_as_it_is_written(asking):
    """F3, C5: the context, text, markers resolved though cut in two, the checked answer."""
    answer = asking.post("/v1/ask", json={"question": QUERY, "principals": []})

    found = events(answer.text)
    names = [name for name, _ in found]
    (context,) = (data for name, data in found if name == "context")
    cited = [data for name, data in found if name == "citation"]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert (names[0], names[-1]) == ("context", "answer")
    assert set(names) == {"context", "text", "citation", "answer"}
    assert "between one and two bar" in context["text"]
    assert [one["text"] for one in cited] == ["[1]", "[9]"]
    assert cited[0]["citations"] == [context["citations"][0]]
    assert cited[1]["dangling"] == ["9"]
    shown = "".join(data["text"] for name, data in found if name in {"text", "citation"})
    assert shown == "".join(PIECES) == found[-1][1]["answer"]


def test_the_whole_answer_is_the_last_event(asking):
    """F3, F8: without a stream it is one object, the same as the last event of one."""
    asked = {"question": QUERY, "principals": [], "candidates": CHUNKS}

    whole = asking.post("/v1/ask", json={**asked, "stream": False})
    streamed = asking.post("/v1/ask", json=asked)

    assert whole.status_code == 200
    assert whole.json() == events(streamed.text)[-1][1]
    assert whole.json()["check"]["clean"] is False
    assert whole.json()["usage"]["prompt"] == 31


def test_a_request_lays_out_what_the_model_reads(asking, models):
    """F3, P1, W1: format, order, earlier turns, template, instructions and temperature."""
    asked = {
        "question": QUERY,
        "candidates": [KEEP],
        "format": "xml",
        "order": "relevance",
        "messages": [
            {"role": "user", "content": "Is it a boiler?"},
            {"role": "assistant", "content": "It is."},
        ],
        "template": "Context:\n{context}\n---\nQuestion: {question}",
        "extra_instructions": "Answer in one sentence.",
        "temperature": 0.5,
        "stream": False,
    }

    assert asking.post("/v1/ask", json=asked).status_code == 200
    sent = models["fine"].requests[-1]
    system, *earlier, user = sent["messages"]
    assert system["content"].endswith("\n\nAnswer in one sentence.")
    assert earlier == asked["messages"]
    assert user["content"].startswith("Context:\n<chunk index=")
    assert user["content"].endswith(f"---\nQuestion: {QUERY}")
    assert sent["options"]["temperature"] == 0.5


@pytest.mark.parametrize("model", ["refuses", "empty"])
def test_a_model_that_fails_is_a_problem(asking, models, model):
    """X3, F3: 502, or the last event of the stream; neither names the model's address."""
    asked = {"question": QUERY, "model": model}

    whole = asking.post("/v1/ask", json={**asked, "stream": False})
    streamed = asking.post("/v1/ask", json=asked)

    name, data = events(streamed.text)[-1]
    assert whole.status_code == 502
    assert name == "error"
    assert {**problem(whole), "instance": ""} == {**data, "instance": ""}
    assert str(models[model].port) not in whole.text + streamed.text.partition("event: error")[2]


def test_who_goes_away_ends_the_answer(asking, models):
    """X2, X3: the model's connection is closed, its place is free; others are asked meanwhile."""
    stuck = {"question": QUERY, "model": "stuck"}

    def is_asked() -> bool:
        with asking.stream("POST", "/v1/ask", json=stuck) as answer:
            return any(line == "event: text" for line in answer.iter_lines())

    with asking.stream("POST", "/v1/ask", json=stuck) as answer:
        lines = answer.iter_lines()
        assert any(line == "event: text" for line in lines)
        full = asking.post("/v1/ask", json=stuck)
        assert full.status_code == 503
        assert full.headers["retry-after"]
        assert asking.post("/v1/ask", json={"question": QUERY}).status_code == 200

    assert models["stuck"].left.wait(20)
    assert any(is_asked() for _ in range(1_000))


@pytest.mark.parametrize(
    ("fields", "status", "kind"),
    [
        ({"model": "gguf:weights.gguf"}, 400, "unknown-name"),
        ({"model": "ollama:tiny@http://127.0.0.1:1"}, 400, "unknown-name"),
        ({"model": "gpt-4o"}, 400, "unknown-name"),
        ({"prompt": "../prompt.md"}, 400, "unknown-name"),
        ({"language": "xx"}, 400, "unknown-name"),
        ({"recipe": "mine.toml"}, 400, "unknown-name"),
        ({"max_tokens": 0}, 422, "bad-fields"),
        ({"max_tokens": 100_000}, 422, "budget-too-small"),
        ({"channel": "smell"}, 422, "bad-fields"),
        ({"temperature": 3}, 422, "bad-fields"),
        ({"template": "{question}"}, 400, "bad-option"),
        ({"messages": [{"role": "wizard", "content": "Hm."}]}, 400, "bad-input"),
        ({"question": " "}, 422, "bad-fields"),
        ({"budget": 3}, 422, "budget-too-small"),
        ({"principals": ["board"]}, 403, "principals"),
    ],
)
def test_what_cannot_be_asked_is_refused_before(asking, models, fields, status, kind):
    """X2, X4: with the status of the fault, and no model hears of it."""
    heard = sum(len(server.requests) for server in models.values())

    answer = asking.post("/v1/ask", json={"question": QUERY, **fields})

    assert answer.status_code == status, answer.text
    assert problem(answer)["type"].endswith(f":{kind}")
    assert sum(len(server.requests) for server in models.values()) == heard


def test_without_models_nobody_is_asked(service):
    """X4: a service without models says so."""
    answer = service.post("/v1/ask", json={"question": QUERY})

    assert answer.status_code == 400
    assert problem(answer)["field"] == "model"


def test_a_refused_connection_is_logged_with_its_cause(filled_store, caplog):
    """F3, X1: the operator reads which model failed and why; the caller reads neither."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    settings = Settings(store=str(filled_store), models={"small": f"openai:tiny@{address}"})
    with serving(settings) as client, caplog.at_level("WARNING", "foveate.service"):
        answer = client.post("/v1/ask", json={"question": QUERY, "stream": False})

    (line,) = [r.getMessage() for r in caplog.records if "failed" in r.getMessage()]
    assert answer.status_code == 502
    assert "connection" not in problem(answer)["detail"]
    assert line == (
        "the model 'small' failed: cannot be reached, or broke off (All connection attempts failed)"
    )


def test_no_path_of_the_operators_is_shown():
    """X4: a model's file counts tokens under the name that requests give it, in a replay too."""
    settings = Settings(store="", models={"small": f"gguf:{weights()}"})
    with serving(settings) as client:
        body = {"query": QUERY, "candidates": CHUNKS, "model": "small", "bundle": True}
        made = client.post("/v1/assemble", json=body)
        again = client.post("/v1/replay", json={"bundle": made.json()["bundle"]})

    assert made.json()["manifest"]["tokenizer"] == "small"
    assert ".gguf" not in made.text
    assert again.json()["identical"] is True
