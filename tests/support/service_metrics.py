"""What a service's `/metrics` says, read by the parser of Prometheus' own library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrape:
    """One scrape: samples by name, each with its labels; and the type of each family."""

    samples: Mapping[str, list[tuple[Mapping[str, str], float]]]
    types: Mapping[str, str]
    text: str

    def value(self, name: str, **labels: str) -> float:
        """The sum of the samples that have these labels; 0 where there is none."""
        return sum(
            value for found, value in self.samples.get(name, []) if labels.items() <= found.items()
        )

    def labels(self, name: str, label: str) -> set[str]:
        """All values of a label."""
        return {found[label] for found, _ in self.samples.get(name, [])}


def parsed(text: str) -> Scrape:
    """The text of a scrape."""
    samples: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    types: dict[str, str] = {}
    for family in text_string_to_metric_families(text):
        types[family.name] = family.type
        for sample in family.samples:
            samples.setdefault(sample.name, []).append((sample.labels, sample.value))
    return Scrape(samples=samples, types=types, text=text)


def scraped(client: httpx.Client, **headers: str) -> Scrape:
    """What the service says now."""
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    return parsed(answer.text)


def grown(before: Scrape, after: Scrape, series: str) -> float:
    """By how much a series grew: `foveate_requests_total{status="200"}`."""
    name, _, inside = series.partition("{")
    labels = dict(re.findall(r'(\w+)="(.*?)"', inside))
    return after.value(name, **labels) - before.value(name, **labels)
