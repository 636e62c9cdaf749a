"""Metrics of a running service, scraped as Prometheus does."""

from __future__ import annotations

import re

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from foveate.service.settings import Settings
from service_keys import by, put
from service_metrics import scraped
from service_server import serving

CHUNKS = [
    {"text": f"The boiler of house {n} holds {n + 40} litres of water. " * 8, "source": f"{n}.md"}
    for n in range(9)
]


def assembled(client: httpx.Client, **more: object) -> dict[str, object]:
    """One context."""
    body = {"query": "How much does the boiler hold?", "candidates": CHUNKS, "budget": 300, **more}
    answer = client.post("/v1/assemble", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, object] = answer.json()
    return found


def test_requests_are_counted_by_route_and_status(service):
    """F7: each request counts once, under its route as it is written, also when it is refused."""
    before = scraped(service)

    assembled(service)
    service.post("/v1/assemble", json={"query": "Why?", "candidates": ["text"]})
    service.get("/v1/assemble")
    service.get("/nowhere/at/all")
    service.request("BREW", "/v1/assemble")

    after = scraped(service)

    def more(**labels: str) -> float:
        name = "foveate_requests_total"
        return after.value(name, **labels) - before.value(name, **labels)

    assert more(route="/v1/assemble", method="POST", status="200") == 1
    assert more(route="/v1/assemble", method="POST", status="400") == 1
    assert more(route="/v1/assemble", method="GET", status="405") == 1
    assert more(route="/v1/assemble", method="other") == 1
    assert more(route="unmatched", method="GET", status="404") == 1
    assert more(route="/metrics") == 1
    seconds = "foveate_request_seconds_count"
    assert (
        after.value(seconds, route="/v1/assemble") - before.value(seconds, route="/v1/assemble")
        == 4
    )
    assert after.value("foveate_requests_in_flight") == 1  # this very scrape


def test_the_budgets_exclusions_are_in_the_metrics(service):
    """B8: chunks and tokens that the budget kept out, beside what is shown: a rate over time."""
    before = scraped(service)

    made = assembled(service, recipe="citations")

    after = scraped(service)

    def more(name: str, **labels: str) -> float:
        return after.value(name, **labels) - before.value(name, **labels)

    figures = made["metrics"]
    assert figures["excluded_chunks"] > 0
    assert more("foveate_excluded_chunks_total", recipe="citations") == figures["excluded_chunks"]
    assert more("foveate_excluded_tokens_total", recipe="citations") == figures["excluded_tokens"]
    assert more("foveate_shown_blocks_total", recipe="citations") == len(made["blocks"])
    assert more("foveate_budget_use_ratio_sum") == pytest.approx(figures["budget_use"])
    assert more("foveate_context_tokens_sum", recipe="citations") == made["token_count"]
    assert more("foveate_contexts_total", recipe="citations", cached="no") == 1
    lost = [
        d for stage in made["trace"] for d in stage["decisions"] if d["reason"] == "over_budget"
    ]
    assert more("foveate_decisions_total", reason="over_budget") == len(lost) > 0


def test_stages_say_how_many_they_took_and_gave_and_how_long(service):
    """F7, D7: each stage by its name on the trace, with counts before and after, and its time."""
    before = scraped(service)

    made = assembled(service)

    after = scraped(service)
    for stage in made["trace"]:
        name = stage["stage"]
        same = [one for one in made["trace"] if one["stage"] == name]
        for metric, figure in (("in", "before"), ("out", "after")):
            key = f"foveate_stage_candidates_{metric}_total"
            grown = after.value(key, stage=name) - before.value(key, stage=name)
            assert grown == sum(one[figure] for one in same)
        count = "foveate_step_seconds_count"
        assert after.value(count, step=name) - before.value(count, step=name) == len(same)
    for step in ("assemble", "cite", "seal"):
        assert after.value("foveate_step_seconds_count", step=step) > 0


def test_a_context_of_the_cache_is_counted_as_such(service):
    """F7, D5: hits and misses, and no stage for a hit."""
    body = {"query": "When is the pump's filter cleaned?", "budget": 200}
    before = scraped(service)

    first = service.post("/v1/assemble", json=body).json()
    between = scraped(service)
    second = service.post("/v1/assemble", json=body).json()

    after = scraped(service)
    assert first["text"] == second["text"]
    requests = "foveate_cache_requests_total"
    assert between.value(requests, outcome="miss") - before.value(requests, outcome="miss") == 1
    assert after.value(requests, outcome="hit") - between.value(requests, outcome="hit") == 1
    contexts = "foveate_contexts_total"
    assert after.value(contexts, cached="yes") - between.value(contexts, cached="yes") == 1
    packs = "foveate_step_seconds_count"
    assert after.value(packs, step="pack") == between.value(packs, step="pack")
    stages = "foveate_stage_candidates_in_total"
    assert after.value(stages) == between.value(stages)


def test_searches_are_counted_by_their_badge(service):
    """F7, T4: how searches went, and how much they brought."""
    before = scraped(service)

    found = service.post("/v1/search", json={"query": "Where is slate?", "limit": 3}).json()

    after = scraped(service)
    name = "foveate_searches_total"
    badge = found["badge"]
    assert (
        after.value(name, badge=badge, exact="yes") - before.value(name, badge=badge, exact="yes")
        == 1
    )
    assert after.value("foveate_search_candidates_total") > before.value(
        "foveate_search_candidates_total"
    )
    assert after.value("foveate_step_seconds_count", step="retrieve") > 0


def test_series_are_bounded(service):
    """F7, X5: other questions, documents, callers and addresses bring no series of their own."""
    for n in range(3):
        assembled(service, query=f"What of house {n}?")
        service.get(f"/unknown/{n}")
        scraped(service)
    before = scraped(service)

    for n in range(3, 25):
        chunks = [{**one, "source": f"{n}.md", "title": f"{n}"} for one in CHUNKS]
        assembled(service, query=f"What of house {n}?", candidates=chunks)
        service.get(f"/unknown/{n}")

    after = scraped(service)
    assert sum(map(len, after.samples.values())) == sum(map(len, before.samples.values()))


def test_metrics_are_for_their_scope(filled_store, tmp_path):
    """X4, F7: where there are keys, `/metrics` needs one with the scope `metrics`."""
    keys = tmp_path / "keys.jsonl"
    operator = put(keys, scopes=("metrics",))
    reader = put(keys, scopes=("assemble", "search", "read"))
    with serving(Settings(store=str(filled_store), embedder="hashing", keys=keys)) as client:
        tries = [client.get("/metrics", headers=h) for h in ({}, by(reader), by(operator))]

    assert [answer.status_code for answer in tries] == [401, 403, 200]
    assert "foveate_" not in tries[0].text + tries[1].text


def test_both_text_formats_are_spoken(service):
    """F7: Prometheus' own format, and OpenMetrics where it is asked for."""
    plain = service.get("/metrics")
    new = service.get("/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"})

    assert plain.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert new.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert new.text.endswith("# EOF\n")


def test_the_stores_size_is_told(filled_store):
    """F7: how many documents and chunks the open stores hold, and how many bytes they take."""
    with serving(Settings(store=str(filled_store), embedder="hashing")) as client:
        assert scraped(client).value("foveate_open_stores") == 1  # ready means that it is open
        client.post("/v1/search", json={"query": "slate"})
        found = scraped(client)
        listed = client.get("/v1/documents", params={"limit": 100}).json()["documents"]

    assert found.value("foveate_open_stores") == 1
    assert found.value("foveate_store_documents") == len(listed) + 1  # and one for the staff alone
    assert found.value("foveate_store_chunks") >= found.value("foveate_store_documents")
    assert found.value("foveate_store_bytes") > 10_000


def test_queued_work_is_seen_and_forgotten(filled_store):
    """F7: places of the pool are counted while they are taken, and are free in the end."""
    settings = Settings(store=str(filled_store), embedder="hashing")
    with serving(settings) as client:
        assembled(client)
        found = scraped(client)

        assert "work" in found.labels("foveate_work_running", "pool")
        assert found.value("foveate_work_running", pool="work") == 0
        assert found.value("foveate_work_waiting", pool="work") == 0


def test_each_help_line_can_be_read_alone(service):
    """F7: a dashboard shows one line at a time, so none refers to the one before it."""
    families = text_string_to_metric_families(scraped(service).text)
    said = {f.name: f.documentation for f in families}

    assert len(said) >= 35
    for name, line in said.items():
        assert line[0].isupper(), name
        assert line.endswith("."), name
        assert len(line.split()) >= 4, name
        assert re.findall(r"(?i)\b(and out|of those|them|they|that one)\b", line) == []
        assert list(said.values()).count(line) == 1
