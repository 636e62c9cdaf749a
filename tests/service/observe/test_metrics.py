"""Metrics of a running service, scraped as Prometheus does: what grows by which request."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

import model_servers
from foveate.service.settings import Settings
from service_metrics import grown, scraped
from service_server import serving

CHUNKS = [
    {"text": f"The boiler of house {n} holds {n + 40} litres of water. " * 8, "source": f"{n}.md"}
    for n in range(9)
]
POOL = {"query": "How much does the boiler hold?", "candidates": CHUNKS, "budget": 300}
QUESTION = {"question": POOL["query"], "candidates": CHUNKS, "stream": False}
PIECES = ("Keep it between ", "one and two bar [", "1]. It is of steel [19]. It is blue.")


@pytest.fixture(scope="module")
def client(filled_store):
    """A service with a model that answers, one that fails, and one that never ends."""
    behaviours = {"fine": "fine", "down": "broken", "stuck": "stuck_midway"}
    with (
        model_servers.several(behaviours, pieces=PIECES) as (_, named),
        serving(Settings(store=str(filled_store), embedder="hashing", **named)) as found,
    ):
        yield found


def assembled(client: httpx.Client, **more: object) -> dict[str, Any]:
    """One context."""
    answer = client.post("/v1/assemble", json={**POOL, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


ASSEMBLE = 'foveate_requests_total{route="/v1/assemble",method='
MODEL = "foveate_model_answers_total{model="
GROWS: list[tuple[str, str, Any, dict[str, float]]] = [
    ("POST", "/v1/assemble", POOL, {
        f'{ASSEMBLE}"POST",status="200"}}': 1, 'foveate_requests_total{route="/metrics"}': 1,
        'foveate_request_seconds_count{route="/v1/assemble"}': 1,
        'foveate_contexts_total{cached="no",recipe="default"}': 1,
        'foveate_step_seconds_count{step="pack"}': 1, "foveate_requests_in_flight": 0,
        'foveate_work_running{pool="work"}': 0, 'foveate_work_waiting{pool="work"}': 0}),
    ("POST", "/v1/assemble", {**POOL, "candidates": ["text"]}, {
        f'{ASSEMBLE}"POST",status="400"}}': 1, "foveate_contexts_total": 0}),
    ("POST", "/v1/assemble", {**POOL, "budget": 3}, {
        f'{ASSEMBLE}"POST",status="422"}}': 1,
        'foveate_step_failures_total{step="assemble"}': 1}),
    ("GET", "/v1/assemble", None, {f'{ASSEMBLE}"GET",status="405"}}': 1}),
    ("BREW", "/v1/assemble", None, {f'{ASSEMBLE}"other"}}': 1}),
    ("GET", "/nowhere/at/all", None, {
        'foveate_requests_total{route="unmatched",method="GET",status="404"}': 1}),
    ("POST", "/v1/search", {"query": "Where is slate?", "limit": 3}, {
        'foveate_searches_total{badge="hybrid",exact="yes"}': 1,
        'foveate_step_seconds_count{step="retrieve"}': 1}),
    ("POST", "/v1/assemble", {**POOL, "recipe": {"name": "x", "stages": ["pack"], "format": "xml"}},
     {'foveate_contexts_total{recipe="inline"}': 1}),
    ("POST", "/v1/ask", {**QUESTION, "model": "down"}, {
        f'{MODEL}"down",outcome="failed"}}': 1, "foveate_answers_checked_total": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "series"), GROWS)
def test_a_request_counts_under_what_it_was(client, method, path, body, series):
    """F7, T4: once, under its route as it is written, its status, its steps; also if refused."""
    before = scraped(client)

    client.request(method, path, json=body)

    after = scraped(client)
    assert {name: grown(before, after, name) for name in series} == series


def test_the_budgets_exclusions_are_in_the_metrics(client):
    """B8, D7: chunks and tokens that the budget kept out, beside what is shown, by reason."""
    before = scraped(client)

    made = assembled(client, recipe="citations")

    after = scraped(client)
    figures = made["metrics"]
    reasons = [d["reason"] for stage in made["trace"] for d in stage["decisions"]]
    expected = {
        'foveate_excluded_chunks_total{recipe="citations"}': figures["excluded_chunks"],
        'foveate_excluded_tokens_total{recipe="citations"}': figures["excluded_tokens"],
        'foveate_shown_blocks_total{recipe="citations"}': len(made["blocks"]),
        "foveate_budget_use_ratio_sum": pytest.approx(figures["budget_use"]),
        'foveate_context_tokens_sum{recipe="citations"}': made["token_count"],
        'foveate_decisions_total{reason="over_budget"}': reasons.count("over_budget"),
    }
    assert figures["excluded_chunks"] > 0
    assert "over_budget" in reasons
    assert {name: grown(before, after, name) for name in expected} == expected


def test_a_context_of_the_cache_is_counted_as_such(client):
    """F7, D5: hits and misses, and no stage for a hit."""
    body = {"query": "When is the pump's filter cleaned?", "budget": 200}
    scrapes = [scraped(client)]
    for _ in range(2):
        assert client.post("/v1/assemble", json=body).status_code == 200
        scrapes.append(scraped(client))

    series = [
        'foveate_cache_requests_total{outcome="miss"}',
        'foveate_cache_requests_total{outcome="hit"}',
        'foveate_contexts_total{cached="yes"}',
        'foveate_step_seconds_count{step="pack"}',
    ]
    seen = [[grown(a, b, one) for one in series] for a, b in pairwise(scrapes)]
    assert seen == [[1, 0, 0, 1], [0, 1, 1, 0]]


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_is_counted_with_what_is_wrong_with_it(client, stream):
    """F7, C3: answers by model, their tokens as the model counts, dangling markers, no markers."""
    asked = {**QUESTION, "model": "fine"}
    check = client.post("/v1/ask", json=asked).json()["check"]
    faults = [fault for claim in check["claims"] for fault in claim["faults"]]
    before = scraped(client)

    assert client.post("/v1/ask", json={**asked, "stream": stream}).status_code == 200

    after = scraped(client)
    expected = {
        f'{MODEL}"fine",outcome="answered"}}': 1,
        'foveate_model_seconds_count{model="fine"}': 1,
        'foveate_model_tokens_total{model="fine",kind="prompt"}': 31,
        'foveate_answers_checked_total{of="ask"}': 1,
        'foveate_answer_claims_total{of="ask"}': len(check["claims"]),
        'foveate_answer_dangling_total{of="ask"}': 1,
        'foveate_answer_uncited_total{of="ask"}': faults.count("uncited"),
        'foveate_answer_unsupported_total{of="ask"}': faults.count("unsupported"),
        "foveate_contexts_total": 1,
    }
    assert faults
    assert {name: grown(before, after, name) for name in expected} == expected


def test_a_check_is_counted_apart(client):
    """F7, C3: what `check-answer` finds is counted under its own name."""
    context = assembled(client)
    before = scraped(client)

    asked = {"answer": "It is blue. So [17].", "context": context, "query": POOL["query"]}
    assert client.post("/v1/check-answer", json=asked).status_code == 200

    after = scraped(client)
    expected = {
        'foveate_answers_checked_total{of="check-answer"}': 1,
        'foveate_answer_dangling_total{of="check-answer"}': 1,
        "foveate_model_answers_total": 0,
    }
    assert {name: grown(before, after, name) for name in expected} == expected


def test_a_reader_who_leaves_is_counted_and_frees_the_place(client):
    """F7: while a model writes a place is taken; who leaves midway is an outcome of its own."""
    before, asked = scraped(client), {**QUESTION, "model": "stuck", "stream": True}
    with client.stream("POST", "/v1/ask", json=asked) as one:
        lines = one.iter_lines()  # the reader leaves when this is collected
        assert "event: text" in lines
        meanwhile = scraped(client)

    assert meanwhile.value("foveate_work_running", pool="answering") == 1
    tries = (scraped(client) for _ in range(1_000))
    left = f'{MODEL}"stuck",outcome="left"}}'
    after = next(one for one in tries if grown(before, one, left))
    assert grown(before, after, left) == 1
    assert after.value("foveate_work_running", pool="answering") == 0


def test_series_are_bounded(client):
    """F7, X5: other questions, documents, callers and addresses bring no series of their own."""
    sizes = []
    for numbers in (range(3), range(3, 25)):
        for n in numbers:
            chunks = [{**one, "source": f"{n}.md", "title": f"{n}"} for one in CHUNKS]
            assembled(client, query=f"What of house {n}?", candidates=chunks)
            client.get(f"/unknown/{n}")
            scraped(client)
        sizes.append(sum(map(len, scraped(client).samples.values())))

    assert sizes[0] == sizes[1]


def test_both_text_formats_are_spoken(client):
    """F7: Prometheus' own format, and OpenMetrics; each line of help can be read alone."""
    plain = client.get("/metrics")
    new = client.get("/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"})
    said = [one.documentation for one in text_string_to_metric_families(plain.text)]

    assert plain.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert new.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert new.text.endswith("# EOF\n")
    assert len(said) == len(set(said)) > 25
    for line in said:
        assert re.fullmatch(r"[A-Z].*( .*){3}\.", line), line
        assert not re.search(r"(?i)\b(and out|of those|them|they|that one)\b", line)
