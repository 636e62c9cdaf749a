"""Prometheus metrics: counts, durations and sizes, with label values from closed lists.

No label and no value names a caller, a question or a document: tenants, principals, ids, keys and
texts are in none of them. With several processes each counts in files of its own
(`processes.py`), which are summed when metrics are read.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder

from foveate._version import __version__
from foveate.answer.check import AnswerCheck
from foveate.core.measure import count_exclusions
from foveate.core.types import Context
from foveate.pipeline.observers import ASSEMBLY_STEPS, CALL_STEPS, CallFigures
from foveate.pipeline.reason_messages import REASON_SENTENCES
from foveate.ports import Usage
from foveate.service.observe.processes import ensure_folder, multiprocess_registry

OTHER = "other"
INLINE = "inline"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
STEPS = frozenset({"input", "render", "cite", "seal", "smallest", *CALL_STEPS, *ASSEMBLY_STEPS})
REASONS = frozenset({*REASON_SENTENCES, "stitched"})
BADGES = frozenset({"hybrid", "vector_only"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelNames:
    """The values of labels: recipes, stages and models by the names that operators know.

    A label's values stay in memory, and a caller's text has no place in metrics; any other value
    is `other`.
    """

    recipes: Collection[str]
    stages: Collection[str]
    models: Collection[str]

    def recipe_label(self, name: str) -> str:
        """A recipe's name; `inline` for one that came with a request."""
        return name if name in self.recipes else INLINE

    def step_label(self, name: str) -> str:
        """A stage's or a call's name."""
        return name if name in STEPS or name in self.stages else OTHER

    def model_label(self, name: str) -> str:
        """The name that requests give a model."""
        return known_label(name, self.models)


def known_label(name: object, known: Collection[str]) -> str:
    """The name, of a closed list: `METHODS`, `REASONS`, `BADGES`."""
    return str(name) if name in known else OTHER


SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
STEP_SECONDS = (0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
TOKENS = (100, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)


class Metrics:
    """The metrics of one process, made once. Threads may share it."""

    def __init__(self, names: LabelNames) -> None:
        ensure_folder()
        # They double what is read, and no query here uses them.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.names = names
        self.registry = CollectorRegistry()
        self._add_request_metrics()
        self._add_assembly_metrics()
        self._add_answer_metrics()
        self._add_store_metrics()
        version = self._gauge(
            "build_info", "Version of foveate that is running.", "version", mode="max"
        )
        version.labels(__version__).set(1)

    def _counter(self, name: str, about: str, *labels: str) -> Counter:
        return Counter(f"foveate_{name}", about, labels, registry=self.registry)

    def _histogram(
        self, name: str, about: str, *labels: str, buckets: tuple[float, ...] = SECONDS
    ) -> Histogram:
        return Histogram(f"foveate_{name}", about, labels, buckets=buckets, registry=self.registry)

    def _gauge(self, name: str, about: str, *labels: str, mode: Any = "livesum") -> Gauge:
        """`mode`: how the values of several processes become one."""
        return Gauge(
            f"foveate_{name}", about, labels, registry=self.registry, multiprocess_mode=mode
        )

    def _add_request_metrics(self) -> None:
        counter, gauge = self._counter, self._gauge
        about = "HTTP requests answered, by route, method and status."
        self.requests = counter("requests", about, "route", "method", "status")
        about = "Seconds from the head of an HTTP request to the end of its response."
        self.request_seconds = self._histogram("request_seconds", about, "route")
        about = "HTTP requests received and not yet answered."
        self.in_flight = gauge("requests_in_flight", about)
        about = "Requests whose rate one process counted alone because Redis was unavailable."
        self.rate_misses = counter("rate_misses", about)
        self.running = gauge("work_running", "Requests running in a worker pool.", "pool")
        self.waiting = gauge("work_waiting", "Requests waiting for a worker pool.", "pool")

    def _add_assembly_metrics(self) -> None:
        counter, histogram = self._counter, self._histogram
        self.contexts = counter("contexts", "Contexts returned to callers.", "recipe", "cached")
        about = "Tokens in a returned context."
        self.context_tokens = histogram("context_tokens", about, "recipe", buckets=TOKENS)
        about = "Share of its budget that a returned context uses."
        self.budget_use = histogram("budget_use_ratio", about, "recipe", buckets=SHARES)
        self.shown_blocks = counter("shown_blocks", "Blocks in returned contexts.", "recipe")
        about = "Chunks left out of contexts because of the budget."
        self.excluded = counter("excluded_chunks", about, "recipe")
        about = "Tokens of the chunks left out of contexts because of the budget."
        self.excluded_tokens = counter("excluded_tokens", about, "recipe")
        about = "Blocks removed from contexts by the final token count."
        self.shed = counter("shed_blocks", about, "recipe")
        about = "Seconds spent in a stage, or in a call to a store, an embedder or a model."
        self.steps = histogram("step_seconds", about, "step", buckets=STEP_SECONDS)
        about = "Stages and external calls that raised an error."
        self.step_failures = counter("step_failures", about, "step")
        self.stage_in = counter("stage_candidates_in", "Candidates received by a stage.", "stage")
        about = "Candidates passed on by a stage."
        self.stage_out = counter("stage_candidates_out", about, "stage")
        about = "Decisions of stages about candidates, by reason."
        self.decisions = counter("decisions", about, "stage", "reason")
        self.searches = counter("searches", "Searches run in a store.", "badge", "exact")
        self.search_candidates = counter("search_candidates", "Candidates found by searches.")
        about = "Lookups in the context cache, by outcome."
        self.cache = counter("cache_requests", about, "outcome")

    def _add_answer_metrics(self) -> None:
        counter = self._counter
        self.answers = counter("answers_checked", "Answers checked against their contexts.", "of")
        about = "Citation markers in checked answers that resolve to no source."
        self.dangling = counter("answer_dangling", about, "of")
        self.claims = counter("answer_claims", "Claims found in checked answers.", "of")
        about = "Claims in checked answers without a citation marker."
        self.uncited = counter("answer_uncited", about, "of")
        about = "Claims in checked answers that the cited source does not support."
        self.unsupported = counter("answer_unsupported", about, "of")
        about = "Seconds until a model completes its answer."
        self.model_seconds = self._histogram("model_seconds", about, "model")
        about = "Answers requested from models, by outcome."
        self.model_answers = counter("model_answers", about, "model", "outcome")
        about = "Tokens read and written by models, as each model counts."
        self.model_tokens = counter("model_tokens", about, "model", "kind")
        about = "Cost of model calls in US dollars, where the list price is known."
        self.model_cost = counter("model_cost_dollars", about, "model")

    def _add_store_metrics(self) -> None:
        about = {
            "open_stores": "Stores that the service has open.",
            "store_documents": "Documents in the open stores.",
            "store_chunks": "Chunks in the open stores.",
            "store_bytes": "Size of the open stores on disk, in bytes.",
        }
        self._stores = [self._gauge(name, text, mode="livemax") for name, text in about.items()]

    def record_request(self, route: str, verb: str, status: int, seconds: float) -> None:
        """Count an answered request; `verb` is of `METHODS`, or `OTHER`."""
        self.requests.labels(route, verb, str(status)).inc()
        self.request_seconds.labels(route).observe(seconds)

    def record_pool(self, pool: str, taken: int, threads: int) -> None:
        """Set the requests in a pool."""
        self.running.labels(pool).set(min(taken, threads))
        self.waiting.labels(pool).set(max(taken - threads, 0))

    def record_context(self, made: Context, *, cached: bool) -> None:
        """Count a returned context, and its stages if they ran for it."""
        recipe = self.names.recipe_label(made.manifest.recipe)
        chunks, tokens = count_exclusions(made.trace)
        self.contexts.labels(recipe, "yes" if cached else "no").inc()
        self.context_tokens.labels(recipe).observe(made.token_count)
        self.budget_use.labels(recipe).observe(_budget_share(made))
        self.shown_blocks.labels(recipe).inc(len(made.blocks))
        self.excluded.labels(recipe).inc(chunks)
        self.excluded_tokens.labels(recipe).inc(tokens)
        shed = sum(d.reason == "shed" for entry in made.trace for d in entry.decisions)
        self.shed.labels(recipe).inc(shed)
        if not cached:
            self._record_stages(made)

    def _record_stages(self, made: Context) -> None:
        for entry in made.trace:
            stage = self.names.step_label(entry.stage)
            self.stage_in.labels(stage).inc(entry.before)
            self.stage_out.labels(stage).inc(entry.after)
            for code, count in Counts(d.reason for d in entry.decisions).items():
                self.decisions.labels(stage, known_label(code, REASONS)).inc(count)

    def record_search(self, figures: CallFigures) -> None:
        """Count a search in a store."""
        exact = "yes" if figures.get("exact") else "no"
        self.searches.labels(known_label(figures.get("badge"), BADGES), exact).inc()
        self.search_candidates.inc(float(figures.get("candidates", 0)))

    def record_check(self, made: AnswerCheck, *, of: str) -> None:
        """Count a checked answer; `of`: the endpoint."""
        self.answers.labels(of).inc()
        self.dangling.labels(of).inc(len(made.dangling))
        self.claims.labels(of).inc(len(made.claims))
        self.uncited.labels(of).inc(len(made.uncited))
        wrong = sum("unsupported" in claim.faults for claim in made.claims)
        self.unsupported.labels(of).inc(wrong)

    def record_model(self, name: str, seconds: float, usage: Usage, cost: float | None) -> None:
        """Count a complete answer of a model."""
        model = self.names.model_label(name)
        self.model_answers.labels(model, "answered").inc()
        self.model_seconds.labels(model).observe(seconds)
        counts = {"prompt": usage.prompt, "completion": usage.completion, "cached": usage.cached}
        for kind, count in counts.items():
            if count is not None:
                self.model_tokens.labels(model, kind).inc(count)
        if cost is not None:
            self.model_cost.labels(model).inc(cost)

    def record_stores(self, stores: int, documents: int, chunks: int, size: int) -> None:
        """The contents of all open stores together."""
        for gauge, value in zip(self._stores, (stores, documents, chunks, size), strict=True):
            gauge.set(value)

    def text(self, accept: str) -> tuple[bytes, str]:
        """The metrics of all processes as Prometheus reads them, and their media type."""
        encode, media_type = choose_encoder(accept)
        return encode(multiprocess_registry() if ensure_folder() else self.registry), media_type


def _budget_share(made: Context) -> float:
    """The share of the tighter limit; the context's own measures take longer to compute."""
    documents, characters = made.budget.documents, made.budget.characters
    of_tokens = made.token_count / documents if documents else 0.0
    return max(of_tokens, len(made.text) / characters if characters else 0.0)
