"""Models' answers and their checks, in metrics, logs and traces of a running service."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

import model_servers
from command_line import CHUNKS, QUERY
from foveate.service.settings import Settings
from otlp_collector import Collector
from service_metrics import Scrape, scraped
from service_server import serving

PIECES = ("Keep it between ", "one and two bar [", "1]. It is of steel [9]. It is blue.")


@pytest.fixture(scope="module")
def collector():
    """A collector of our own."""
    made = Collector()
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(filled_store, collector):
    """A service with a model that answers, one that fails, and one that never ends."""
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(model_servers.serving("ollama", how, pieces=PIECES))
            for name, how in {"fine": "fine", "down": "broken", "stuck": "stuck_midway"}.items()
        }
        settings = Settings(
            store=str(filled_store),
            embedder="hashing",
            models={name: server.name for name, server in servers.items()},
            windows=dict.fromkeys(servers, 8_192),
            otlp=collector.url,
        )
        yield stack.enter_context(serving(settings))


def grown(before: Scrape, after: Scrape, name: str, **labels: str) -> float:
    """By how much."""
    return after.value(name, **labels) - before.value(name, **labels)


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_is_counted_with_what_is_wrong_with_it(client, stream):
    """F7, C3: answers by model, their tokens as the model counts, dangling markers, no markers."""
    asked = {"question": QUERY, "candidates": CHUNKS, "stream": stream}
    check = client.post("/v1/ask", json={**asked, "stream": False}).json()["check"]
    before = scraped(client)

    assert client.post("/v1/ask", json=asked).status_code == 200

    after = scraped(client)
    answers = "foveate_model_answers_total"
    assert grown(before, after, answers, model="fine", outcome="answered") == 1
    assert grown(before, after, "foveate_model_seconds_count", model="fine") == 1
    tokens = "foveate_model_tokens_total"
    assert grown(before, after, tokens, model="fine", kind="prompt") == 31
    assert grown(before, after, tokens, model="fine", kind="completion") > 0
    assert grown(before, after, "foveate_answers_checked_total", of="ask") == 1
    assert grown(before, after, "foveate_answer_claims_total", of="ask") == len(check["claims"])
    faults = [fault for claim in check["claims"] for fault in claim["faults"]]
    uncited, unsupported = faults.count("uncited"), faults.count("unsupported")
    assert grown(before, after, "foveate_answer_dangling_total", of="ask") == 1
    assert grown(before, after, "foveate_answer_uncited_total", of="ask") == uncited
    assert grown(before, after, "foveate_answer_unsupported_total", of="ask") == unsupported
    assert uncited + unsupported > 0
    assert grown(before, after, "foveate_contexts_total") == 1


def test_a_check_is_counted_apart(client):
    """F7, C3: what `check-answer` finds is counted under its own name."""
    context = client.post("/v1/assemble", json={"query": QUERY, "candidates": CHUNKS}).json()
    before = scraped(client)

    answer = client.post(
        "/v1/check-answer",
        json={"answer": "It is blue. So [7].", "context": context, "query": QUERY},
    )

    after = scraped(client)
    assert answer.status_code == 200, answer.text
    assert grown(before, after, "foveate_answers_checked_total", of="check-answer") == 1
    assert grown(before, after, "foveate_answer_dangling_total", of="check-answer") == 1
    assert grown(before, after, "foveate_model_answers_total") == 0


def test_a_model_that_fails_is_counted_and_traced(client, collector):
    """F7, X3: an answer that was not had, by model; its span is an error without its words."""
    before = scraped(client)

    asked = {"question": QUERY, "candidates": CHUNKS, "stream": False, "model": "down"}
    assert client.post("/v1/ask", json=asked).status_code == 502

    after = scraped(client)
    assert grown(before, after, "foveate_model_answers_total", model="down", outcome="failed") == 1
    spans = collector.wait(
        lambda spans: any(s.attributes.get("gen_ai.request.model") == "down" for s in spans), 60
    )
    span = next(s for s in spans if s.attributes.get("gen_ai.request.model") == "down")
    assert span.attributes["gen_ai.provider.name"] == "ollama"
    assert span.attributes["error.type"] == "ExternalError"
    assert span.status == (2, "ExternalError")
    assert span.parent in {one.id for one in spans if one.name == "POST /v1/ask"}


def test_an_answer_has_the_attributes_of_generative_models(client, collector):
    """F7: what is called so by OpenTelemetry's conventions, on the span of the answer."""
    asked = {"question": QUERY, "candidates": CHUNKS, "stream": False, "model": "fine"}
    assert client.post("/v1/ask", json=asked).status_code == 200

    def is_answer(span) -> bool:
        return span.attributes.get("gen_ai.usage.input_tokens") == 31

    spans = collector.wait(lambda spans: any(map(is_answer, spans)), 60)
    attributes = next(span for span in spans if is_answer(span)).attributes
    assert attributes["gen_ai.operation.name"] == "chat"
    assert attributes["gen_ai.provider.name"] == "ollama"
    assert attributes["gen_ai.request.model"] == "fine"
    assert attributes["gen_ai.response.model"] == "tiny-1"
    assert attributes["gen_ai.usage.output_tokens"] > 0
    assert "gen_ai.response.finish_reasons" in attributes


def test_a_compaction_is_a_span_with_its_figures_and_no_text(client, collector):
    """A1, F7: tokens and messages before and after, within the span of the request."""
    said = [{"role": "user", "content": f"Look at pump {n}. " * 30} for n in range(4)]
    made = client.post("/v1/compact", json={"messages": said, "budget": 300}).json()

    spans = collector.wait(lambda spans: any(s.name == "foveate.compact" for s in spans), 60)
    span = next(span for span in spans if span.name == "foveate.compact")
    assert span.parent in {one.id for one in spans if one.name == "POST /v1/compact"}
    assert span.attributes["foveate.budget"] == 300
    assert span.attributes["foveate.before"] > 300 >= span.attributes["foveate.after"]
    assert span.attributes["foveate.messages_before"] == 4
    assert span.attributes["gen_ai.conversation.compacted"] is True
    assert span.attributes["foveate.messages_after"] == len(made["messages"])
    assert not any("pump" in str(value) for value in span.attributes.values())


def test_a_reader_who_leaves_is_counted_and_frees_the_place(client):
    """F7: while a model writes a place is taken; who leaves midway is an outcome of its own."""
    before = scraped(client)
    asked = {"question": QUERY, "candidates": CHUNKS, "model": "stuck"}

    with client.stream("POST", "/v1/ask", json=asked) as answer:
        lines = answer.iter_lines()
        assert any(line == "event: text" for line in lines)
        meanwhile = scraped(client)

    assert meanwhile.value("foveate_work_running", pool="answering") == 1
    name = "foveate_model_answers_total"
    tries = (scraped(client) for _ in range(1_000))
    after = next(one for one in tries if one.value("foveate_work_running", pool="answering") == 0)
    assert grown(before, after, name, model="stuck", outcome="left") == 1
    assert grown(before, after, name, outcome="answered") == 0
