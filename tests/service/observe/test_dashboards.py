"""The dashboard and the alerts: whole, and of metrics and labels that a running service has.

Here it is held which metrics and labels the expressions name. That they are whole says Prometheus'
own `promtool` (`make promtool`), which is no Python package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import yaml

import model_servers
from command_line import CHUNKS, QUERY
from foveate.service.settings import Settings
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
SELECTOR = re.compile(r"\b(foveate_\w+|up\b)(?:\{([^}]*)\})?(\[\S+\])?")
PROMETHEUS_OWN = {"job", "instance", "le"}
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


@dataclass(frozen=True)
class Selector:
    """A metric that is asked for, what its labels must match, and whether over a range."""

    metric: str
    matchers: dict[str, str]
    ranged: bool


def selectors(expression: str) -> Iterator[Selector]:
    """Every metric that an expression asks for."""
    for metric, inside, ranged in SELECTOR.findall(expression):
        matchers = dict(re.findall(r'(\w+)[!=~]+"(.*?)"', inside))
        assert 2 * len(matchers) == inside.count('"'), inside
        yield Selector(metric, matchers, bool(ranged))


def grouped(expression: str) -> set[str]:
    """The labels that an expression sums by."""
    return {label for some in re.findall(r"by \((.*?)\)", expression) for label in some.split(", ")}


@pytest.fixture(scope="module")
def told(filled_store) -> Scrape:
    """A scrape of a service of which everything was asked once, well and badly."""
    with (
        model_servers.several({"fine": "fine", "down": "broken"}) as (servers, named),
        serving(Settings(store=str(filled_store), embedder="hashing", **named)) as client,
    ):
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


@pytest.mark.parametrize("where", sorted(EXPRESSIONS))
def test_every_metric_that_is_asked_for_exists(told, where):
    """F7: each expression is of metrics and labels that the running service has."""
    asked, labels = list(selectors(EXPRESSIONS[where])), grouped(EXPRESSIONS[where])

    assert {selector.metric for selector in asked} - samples(told) - {"up"} == set()
    assert asked
    for selector in asked:
        if selector.metric != "up":
            for known, _ in told.samples.get(selector.metric, [])[:1]:
                assert {*selector.matchers, *labels} - set(known) - PROMETHEUS_OWN == set()
            kind = told.types.get(re.sub("_(total|bucket|sum|count)$", "", selector.metric))
            assert selector.ranged is (kind != "gauge"), f"{selector.metric} is a {kind}"


def test_every_metric_is_shown(told):
    """F7, B8: the dashboard or an alert has a use for each metric that the service exposes."""
    used = {s.metric for text in EXPRESSIONS.values() for s in selectors(text)}

    unused = {
        name
        for name, kind in told.types.items()
        if not used & {f"{name}{suffix}" for suffix in SUFFIXES.get(kind, ())}
    }

    assert unused == set()
    assert {"foveate_excluded_chunks_total", "foveate_excluded_tokens_total"} <= used


def test_values_that_labels_must_match_are_ones_they_can_have(told):
    """F7: routes, badges, outcomes and steps are spelled as the service spells them."""
    known = {
        "route": {"/v1/assemble", "/healthz", "/readyz", "/metrics"},
        "badge": {"hybrid", "vector_only"},
        "outcome": {"answered", "failed", "left", "hit", "miss"},
    }
    for text in EXPRESSIONS.values():
        for selector in selectors(text):
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
            assert set(used) <= grouped(rule["expr"]) | PROMETHEUS_OWN


def test_every_alert_has_a_case_in_which_it_fires():
    """F7: the cases for `promtool test rules` name each alert, and one in which none fires."""
    fires, quiet = CASES["tests"]
    (wanted,) = fires["promql_expr_test"]
    named = {re.search(r'alertname="(\w+)"', one["labels"])[1] for one in wanted["exp_samples"]}
    (none,) = quiet["promql_expr_test"]
    metrics = {re.split(r"{", one["series"])[0] for one in fires["input_series"]}
    asked = {s.metric for rule in RULES for s in selectors(rule["expr"])}

    assert named == {rule["alert"] for rule in RULES}
    assert none["exp_samples"] == []
    assert asked <= metrics


def test_the_page_has_every_metric_and_every_alert(told):
    """F7: the page on observability says what each metric is, and what to do about each alert."""
    page = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8")
    families = {f"{n}_total" if kind == "counter" else n for n, kind in told.types.items()}

    assert {n for n in families if f"`{n}`" not in page} == set()
    assert [rule["alert"] for rule in RULES if f"`{rule['alert']}`" not in page] == []
