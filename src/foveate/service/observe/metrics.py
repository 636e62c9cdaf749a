"""What Prometheus is told: counts, durations and sizes, by names from closed lists.

No label and no value says who asked, for what, or which document: tenants, principals, ids, keys
and texts are in none of them. With several processes each counts in files of its own
(`processes.py`), which are summed when they are read.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from foveate._version import __version__
from foveate.answer.check import AnswerCheck
from foveate.core.measure import count_exclusions
from foveate.core.types import Context
from foveate.ports import Usage
from foveate.service.observe.names import LabelNames, badge_label, method_label, reason_label
from foveate.service.observe.processes import ensure_folder, multiprocess_registry

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

M = TypeVar("M", "Counter", "Gauge", "Histogram")

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
STEP_SECONDS = (0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
TOKENS = (100, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)


class Metrics:
    """The metrics of one process. Safe to share between threads; made once a process."""

    def __init__(self, names: LabelNames) -> None:
        from prometheus_client import CollectorRegistry

        ensure_folder()
        self.names = names
        self.registry = CollectorRegistry()
        made = _MetricFactory(self.registry)
        self._add_request_metrics(made)
        self._add_assembly_metrics(made)
        self._add_search_metrics(made)
        self._add_answer_metrics(made)
        self._add_store_metrics(made)
        made.gauge(
            "build_info", "Version of foveate that is running.", ["version"], mode="max"
        ).labels(__version__).set(1)

    def _add_request_metrics(self, made: _MetricFactory) -> None:
        self.requests = made.counter(
            "requests",
            "HTTP requests answered, by route, method and status.",
            ["route", "method", "status"],
        )
        self.request_seconds = made.histogram(
            "request_seconds",
            "Seconds from the head of an HTTP request to the end of its response.",
            ["route"],
            SECONDS,
        )
        self.in_flight = made.gauge(
            "requests_in_flight", "HTTP requests received and not yet answered."
        )
        self.rate_misses = made.counter(
            "rate_misses",
            "Requests whose rate one process counted alone because Redis was unavailable.",
        )
        self.running = made.gauge("work_running", "Requests running in a worker pool.", ["pool"])
        self.waiting = made.gauge("work_waiting", "Requests waiting for a worker pool.", ["pool"])

    def _add_assembly_metrics(self, made: _MetricFactory) -> None:
        self.contexts = made.counter(
            "contexts", "Contexts returned to callers.", ["recipe", "cached"]
        )
        self.context_tokens = made.histogram(
            "context_tokens", "Tokens in a returned context.", ["recipe"], TOKENS
        )
        self.budget_use = made.histogram(
            "budget_use_ratio",
            "Share of its budget that a returned context uses.",
            ["recipe"],
            SHARES,
        )
        self.shown_blocks = made.counter("shown_blocks", "Blocks in returned contexts.", ["recipe"])
        self.excluded = made.counter(
            "excluded_chunks", "Chunks left out of contexts because of the budget.", ["recipe"]
        )
        self.excluded_tokens = made.counter(
            "excluded_tokens",
            "Tokens of the chunks left out of contexts because of the budget.",
            ["recipe"],
        )
        self.shed = made.counter(
            "shed_blocks", "Blocks removed from contexts by the final token count.", ["recipe"]
        )
        self.steps = made.histogram(
            "step_seconds",
            "Seconds spent in a stage, or in a call to a store, an embedder or a model.",
            ["step"],
            STEP_SECONDS,
        )
        self.step_failures = made.counter(
            "step_failures", "Stages and external calls that raised an error.", ["step"]
        )
        self.stage_in = made.counter(
            "stage_candidates_in", "Candidates received by a stage.", ["stage"]
        )
        self.stage_out = made.counter(
            "stage_candidates_out", "Candidates passed on by a stage.", ["stage"]
        )
        self.decisions = made.counter(
            "decisions", "Decisions of stages about candidates, by reason.", ["stage", "reason"]
        )

    def _add_search_metrics(self, made: _MetricFactory) -> None:
        self.searches = made.counter("searches", "Searches run in a store.", ["badge", "exact"])
        self.search_candidates = made.counter("search_candidates", "Candidates found by searches.")
        self.cache = made.counter(
            "cache_requests", "Lookups in the context cache, by outcome.", ["outcome"]
        )

    def _add_answer_metrics(self, made: _MetricFactory) -> None:
        self.answers = made.counter(
            "answers_checked", "Answers checked against their contexts.", ["of"]
        )
        self.dangling = made.counter(
            "answer_dangling",
            "Citation markers in checked answers that resolve to no source.",
            ["of"],
        )
        self.claims = made.counter("answer_claims", "Claims found in checked answers.", ["of"])
        self.uncited = made.counter(
            "answer_uncited", "Claims in checked answers without a citation marker.", ["of"]
        )
        self.unsupported = made.counter(
            "answer_unsupported",
            "Claims in checked answers that the cited source does not support.",
            ["of"],
        )
        self.model_seconds = made.histogram(
            "model_seconds", "Seconds until a model completes its answer.", ["model"], SECONDS
        )
        self.model_answers = made.counter(
            "model_answers", "Answers requested from models, by outcome.", ["model", "outcome"]
        )
        self.model_tokens = made.counter(
            "model_tokens",
            "Tokens read and written by models, as each model counts.",
            ["model", "kind"],
        )
        self.model_cost = made.counter(
            "model_cost_dollars",
            "Cost of model calls in US dollars, where the list price is known.",
            ["model"],
        )

    def _add_store_metrics(self, made: _MetricFactory) -> None:
        self.stores = made.gauge("open_stores", "Stores that the service has open.", mode="livemax")
        self.documents = made.gauge(
            "store_documents", "Documents in the open stores.", mode="livemax"
        )
        self.chunks = made.gauge("store_chunks", "Chunks in the open stores.", mode="livemax")
        self.bytes = made.gauge(
            "store_bytes", "Size of the open stores on disk, in bytes.", mode="livemax"
        )

    def record_request(self, route: str, verb: str, status: int, seconds: float) -> None:
        """One that has been answered."""
        self.requests.labels(route, method_label(verb), str(status)).inc()
        self.request_seconds.labels(route).observe(seconds)

    def record_pool(self, pool: str, taken: int, threads: int) -> None:
        """How many places of a pool are taken now."""
        self.running.labels(pool).set(min(taken, threads))
        self.waiting.labels(pool).set(max(taken - threads, 0))

    def record_context(self, made: Context, *, cached: bool) -> None:
        """One that is handed out; what its stages did is counted where they ran."""
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
            counts: dict[str, int] = {}
            for decision in entry.decisions:
                counts[decision.reason] = counts.get(decision.reason, 0) + 1
            for code, count in counts.items():
                self.decisions.labels(stage, reason_label(code)).inc(count)

    def record_search(self, figures: Any) -> None:
        """One in a store, as `prepare.said_of` has it."""
        exact = "yes" if figures.get("exact") else "no"
        self.searches.labels(badge_label(figures.get("badge")), exact).inc()
        self.search_candidates.inc(figures.get("candidates", 0))

    def record_check(self, made: AnswerCheck, *, of: str) -> None:
        """An answer held against its context; `of`: the endpoint."""
        self.answers.labels(of).inc()
        self.dangling.labels(of).inc(len(made.dangling))
        self.claims.labels(of).inc(len(made.claims))
        self.uncited.labels(of).inc(len(made.uncited))
        wrong = sum("unsupported" in claim.faults for claim in made.claims)
        self.unsupported.labels(of).inc(wrong)

    def record_model(self, name: str, seconds: float, usage: Usage, cost: float | None) -> None:
        """A model's whole answer."""
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
        """What the open stores hold, all together."""
        self.stores.set(stores)
        self.documents.set(documents)
        self.chunks.set(chunks)
        self.bytes.set(size)

    def text(self, accept: str) -> tuple[bytes, str]:
        """Everything, of all processes, as Prometheus reads it; and its media type."""
        from prometheus_client.exposition import choose_encoder

        encode, media_type = choose_encoder(accept)
        return encode(multiprocess_registry() if ensure_folder() else self.registry), media_type


def _budget_share(made: Context) -> float:
    """The share of the tighter limit; the context's own measures take longer to work out."""
    documents, characters = made.budget.documents, made.budget.characters
    of_tokens = made.token_count / documents if documents else 0.0
    return max(of_tokens, len(made.text) / characters if characters else 0.0)


class _MetricFactory:
    """Makes metrics of one registry, all named `foveate_…`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def counter(self, name: str, about: str, labels: list[str] | None = None) -> Counter:
        """Only grows."""
        from prometheus_client import Counter

        return _cache_labels(
            Counter(f"foveate_{name}", about, labels or [], registry=self._registry)
        )

    def histogram(
        self, name: str, about: str, labels: list[str], buckets: tuple[float, ...]
    ) -> Histogram:
        """How many up to each size."""
        from prometheus_client import Histogram

        name = f"foveate_{name}"
        return _cache_labels(
            Histogram(name, about, labels, buckets=buckets, registry=self._registry)
        )

    def gauge(
        self, name: str, about: str, labels: list[str] | None = None, *, mode: str = "livesum"
    ) -> Gauge:
        """Goes up and down; `mode`: how those of several processes become one."""
        from prometheus_client import Gauge

        made = Gauge(
            f"foveate_{name}",
            about,
            labels or [],
            registry=self._registry,
            multiprocess_mode=mode,  # type: ignore[arg-type]
        )
        return _cache_labels(made)


def _cache_labels(metric: M) -> M:
    """The metric, which finds what belongs to labels without its lock: it is asked all the time."""
    metric.labels = cache(metric.labels)  # type: ignore[method-assign]  # `names.py`: closed lists
    return metric
