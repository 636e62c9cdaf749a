"""The dashboard and the alerts: whole, and of metrics and labels that a running service has.

Rules and expressions are read by a reader of our own (`promql.py`), for Prometheus' own tools are
no Python package; where `promtool` is installed, `make promtool` asks that, too.
"""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from typing import Any

import pytest
import yaml

import model_servers
from command_line import CHUNKS, QUERY
from foveate.service.settings import Settings
from promql import NotPromQL, Selector, read
from service_metrics import Scrape, scraped
from service_server import serving
from source_tree import ROOT

FOLDER = ROOT / "deploy" / "observability"
BOARD = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))
ALERTS = yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))
CASES = yaml.safe_load((FOLDER / "alerts.test.yaml").read_text(encoding="utf-8"))
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
EXPRESSIONS = {
    **{
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in PANELS
        for target in panel["targets"]
    },
    **{rule["alert"]: rule["expr"] for rule in RULES},
}
PROMETHEUS_OWN = {"job", "instance", "le"}
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


@pytest.fixture(scope="module")
def told(filled_store) -> Scrape:
    """A scrape of a service of which everything was asked once, well and badly."""
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(model_servers.serving("ollama", how))
            for name, how in {"fine": "fine", "down": "broken"}.items()
        }
        settings = Settings(
            store=str(filled_store),
            embedder="hashing",
            models={name: server.name for name, server in servers.items()},
            windows=dict.fromkeys(servers, 8_192),
        )
        client = stack.enter_context(serving(settings))
        for _ in range(2):
            client.post("/v1/assemble", json={"query": QUERY})
        client.post("/v1/assemble", json={"query": QUERY, "candidates": CHUNKS, "budget": 1})
        client.post("/v1/search", json={"query": QUERY})
        for model in servers:
            asked = {"question": QUERY, "candidates": CHUNKS, "model": model, "stream": False}
            client.post("/v1/ask", json=asked)
        scraped(client)
        return scraped(client)


def samples(told: Scrape) -> set[str]:
    """The names of all samples that the service's metrics can have."""
    return {
        f"{name}{suffix}" for name, kind in told.types.items() for suffix in SUFFIXES.get(kind, ())
    }


def wrong_labels(told: Scrape, selector: Selector, grouped: set[str]) -> set[str]:
    """Labels that an expression speaks of and the metric does not have."""
    found = told.samples.get(selector.metric, [])
    if not found:
        return set()
    return {*selector.matchers, *grouped} - set(found[0][0]) - PROMETHEUS_OWN


@pytest.mark.parametrize("where", sorted(EXPRESSIONS))
def test_every_metric_that_is_asked_for_exists(told, where):
    """F7: each expression is whole, and of metrics and labels that the running service has."""
    expression = read(EXPRESSIONS[where])

    metrics = {selector.metric for selector in expression.selectors}
    assert metrics != set()
    assert metrics - samples(told) - {"up"} == set()
    for selector in expression.selectors:
        if selector.metric != "up":
            assert wrong_labels(told, selector, expression.grouped) == set()
            kind = told.types.get(re.sub("_(total|bucket|sum|count)$", "", selector.metric))
            assert selector.ranged is (kind != "gauge"), f"{selector.metric} is a {kind}"


def test_every_metric_is_shown(told):
    """F7, B8: the dashboard or an alert has a use for each metric that the service exposes."""
    used = {s.metric for text in EXPRESSIONS.values() for s in read(text).selectors}

    unused = {
        name
        for name, kind in told.types.items()
        if not used & {f"{name}{suffix}" for suffix in SUFFIXES.get(kind, ())}
    }

    assert {name for name in unused if not name.endswith("_created")} == set()
    assert {"foveate_excluded_chunks_total", "foveate_excluded_tokens_total"} <= used


def test_values_that_labels_must_match_are_ones_they_can_have(told):
    """F7: routes, badges, outcomes and steps are spelled as the service spells them."""
    known = {
        "route": {"/v1/assemble", "/healthz", "/readyz", "/metrics"},
        "badge": {"hybrid", "vector_only"},
        "outcome": {"answered", "failed", "left", "hit", "miss"},
    }
    for text in EXPRESSIONS.values():
        for selector in read(text).selectors:
            for label, value in selector.matchers.items():
                if label == "step":
                    steps = told.labels("foveate_step_seconds_count", "step")
                    assert set(value.split("|")) <= steps | {"rerank"}
                elif label in known:
                    assert set(value.split("|")) <= known[label]
    assert told.labels("foveate_requests_total", "route") & known["route"]


def test_the_dashboard_is_one_that_grafana_takes():
    """F7: panels have ids of their own, a place that no other has, a source and queries."""
    ids = [panel["id"] for panel in BOARD["panels"]]
    assert len(ids) == len(set(ids))
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert at["x"] + at["w"] <= 24
        assert taken & cells == set(), panel["title"]
        taken |= cells
    for panel in PANELS:
        assert panel["type"] in {"timeseries", "stat"}
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert panel["description"]
        assert panel["fieldConfig"]["defaults"]["unit"]
        references = [target["refId"] for target in panel["targets"]]
        assert len(references) == len(set(references)) > 0
        assert all('job=~"$job"' in target["expr"] for target in panel["targets"])
    variables = {one["name"]: one for one in BOARD["templating"]["list"]}
    assert set(variables) == {"datasource", "job"}
    assert BOARD["schemaVersion"] >= 39
    assert BOARD["uid"] == "foveate"


def test_the_alerts_are_rules_that_prometheus_takes():
    """F7: groups of rules with the keys that rules have, names of their own, words for people."""
    assert set(ALERTS) == {"groups"}
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names)) > 8
    groups = [group["name"] for group in ALERTS["groups"]]
    assert len(groups) == len(set(groups))
    for rule in RULES:
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+[smhd]", rule["for"])
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert set(rule["annotations"]) == {"summary", "description"}
        for text in rule["annotations"].values():
            assert text.count("{{") == text.count("}}")
            used = re.findall(r"\$labels\.(\w+)", text)
            assert set(used) <= read(rule["expr"]).grouped | PROMETHEUS_OWN


def test_every_alert_has_a_case_in_which_it_fires():
    """F7: the cases for `promtool test rules` name each alert, and one in which none fires."""
    fires, quiet = CASES["tests"]
    (wanted,) = fires["promql_expr_test"]
    named = {re.search(r'alertname="(\w+)"', one["labels"])[1] for one in wanted["exp_samples"]}
    (none,) = quiet["promql_expr_test"]
    metrics = {re.split(r"{", one["series"])[0] for one in fires["input_series"]}
    asked = {s.metric for rule in RULES for s in read(rule["expr"]).selectors}

    assert named == {rule["alert"] for rule in RULES}
    assert none["exp_samples"] == []
    assert asked <= metrics


def test_the_page_has_every_metric_and_every_alert(told):
    """F7: the page on observability says what each metric is, and what to do about each alert."""
    page = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8")
    families = {f"{n}_total" if kind == "counter" else n for n, kind in told.types.items()}

    assert {n for n in families if f"`{n}`" not in page and not n.endswith("_created")} == set()
    assert [rule["alert"] for rule in RULES if f"`{rule['alert']}`" not in page] == []


@pytest.mark.parametrize(
    "text",
    [
        "sum(rate(a_total[5m])",
        "sum by job (rate(a_total[5m]))",
        'rate(a_total{status=~"5..}[5m])',
        "rate(a_total{status}[5m])",
        "a_total[5 m]",
        "sum",
        'a_total{status=~"("}',
        "[5m]",
        "a_total # what",
    ],
)
def test_what_is_not_whole_is_noticed(text):
    """F7: our reader of expressions is no rubber stamp."""
    with pytest.raises((NotPromQL, re.error)):
        read(text)


def test_the_reader_finds_what_is_asked_for():
    """F7: metrics, matchers, ranges and labels of an expression, by one that a reader can check."""
    found: Any = read('sum by (a, b) (rate(x_total{c="1", d!~"2|3"}[5m])) / max(y) > 0.5')

    assert [(s.metric, s.matchers, s.ranged) for s in found.selectors] == [
        ("x_total", {"c": "1", "d": "2|3"}, True),
        ("y", {}, False),
    ]
    assert found.grouped == {"a", "b"}
