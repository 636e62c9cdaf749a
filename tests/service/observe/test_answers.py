"""Models' answers and compactions in the traces of a running service."""

from __future__ import annotations

import pytest

import model_servers
from command_line import CHUNKS, QUERY
from foveate.service.settings import Settings
from otlp_collector import Collector
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
    """A service with a model that answers, and one that fails."""
    with model_servers.several({"fine": "fine", "down": "broken"}, pieces=PIECES) as (_, named):
        settings = Settings(
            store=str(filled_store), embedder="hashing", otlp=collector.url, **named
        )
        with serving(settings) as found:
            yield found


def test_a_model_that_fails_is_traced(client, collector):
    """F7, X3: the span of an answer that was not had is an error without its words."""
    asked = {"question": QUERY, "candidates": CHUNKS, "stream": False, "model": "down"}
    assert client.post("/v1/ask", json=asked).status_code == 502
    span = collector.wait_child(
        lambda span: span.attributes.get("gen_ai.request.model") == "down", "POST /v1/ask"
    )
    assert span.attributes["gen_ai.provider.name"] == "ollama"
    assert span.attributes["error.type"] == "ExternalError"
    assert span.status == (2, "ExternalError")


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

    span = collector.wait_child(lambda span: span.name == "foveate.compact", "POST /v1/compact")
    assert span.attributes["foveate.budget"] == 300
    assert span.attributes["foveate.before"] > 300 >= span.attributes["foveate.after"]
    assert span.attributes["foveate.messages_before"] == 4
    assert span.attributes["gen_ai.conversation.compacted"] is True
    assert span.attributes["foveate.messages_after"] == len(made["messages"])
    assert not any("pump" in str(value) for value in span.attributes.values())
