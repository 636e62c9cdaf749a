"""What Prometheus is told: counts, durations and sizes, by names from closed lists.

No label and no value says who asked, for what, or which document: tenants, principals, ids, keys
and texts are in none of them. With several processes each counts in files of its own
(`processes.py`), which are summed when they are read.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from foveate._version import __version__
from foveate.answer.check import Checked
from foveate.core.measure import exclusions
from foveate.core.types import Context
from foveate.ports import Usage
from foveate.service.observe.names import Names, badge, method, reason
from foveate.service.observe.processes import ensure, summed

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

M = TypeVar("M", "Counter", "Gauge", "Histogram")

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
STEP_SECONDS = (0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
TOKENS = (100, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)


class Metrics:
    """The metrics of one process. Safe to share between threads; made once a process."""

    def __init__(self, names: Names) -> None:
        from prometheus_client import CollectorRegistry

        ensure()
        self.names = names
        self.registry = CollectorRegistry()
        made = _Maker(self.registry)
        self._requests(made)
        self._assembly(made)
        self._searches(made)
        self._answers(made)
        self._stores(made)
        made.gauge("build_info", "The version that runs.", ["version"], mode="max").labels(
            __version__
        ).set(1)

    def _requests(self, made: _Maker) -> None:
        self.requests = made.counter(
            "requests", "Requests answered.", ["route", "method", "status"]
        )
        self.request_seconds = made.histogram(
            "request_seconds", "From a request's head to the end of its answer.", ["route"], SECONDS
        )
        self.in_flight = made.gauge("requests_in_flight", "Requests taken and not yet answered.")
        self.rate_misses = made.counter(
            "rate_misses", "Requests whose rate one process counted alone, without Redis."
        )
        self.running = made.gauge("work_running", "Requests at work in a pool.", ["pool"])
        self.waiting = made.gauge("work_waiting", "Requests that wait for a pool.", ["pool"])

    def _assembly(self, made: _Maker) -> None:
        self.contexts = made.counter("contexts", "Contexts handed out.", ["recipe", "cached"])
        self.context_tokens = made.histogram(
            "context_tokens", "Tokens of a context.", ["recipe"], TOKENS
        )
        self.budget_use = made.histogram(
            "budget_use_ratio", "Share of the budget that a context uses.", ["recipe"], SHARES
        )
        self.shown = made.counter("shown_blocks", "Blocks that contexts show.", ["recipe"])
        self.excluded = made.counter(
            "excluded_chunks", "Chunks that the budget kept out.", ["recipe"]
        )
        self.excluded_tokens = made.counter(
            "excluded_tokens", "Tokens of the chunks that the budget kept out.", ["recipe"]
        )
        self.shed = made.counter("shed_blocks", "Blocks taken away by the last gate.", ["recipe"])
        self.steps = made.histogram(
            "step_seconds", "A stage, or a call to the outside.", ["step"], STEP_SECONDS
        )
        self.step_failures = made.counter("step_failures", "Steps that raised.", ["step"])
        self.stage_in = made.counter("stage_candidates_in", "Candidates into a stage.", ["stage"])
        self.stage_out = made.counter("stage_candidates_out", "And out of it.", ["stage"])
        self.decisions = made.counter(
            "decisions", "What became of candidates, by reason.", ["stage", "reason"]
        )

    def _searches(self, made: _Maker) -> None:
        self.searches = made.counter("searches", "Searches in a store.", ["badge", "exact"])
        self.found = made.counter("search_candidates", "Candidates that searches brought.")
        self.cache = made.counter("cache_requests", "Contexts asked for of the cache.", ["outcome"])

    def _answers(self, made: _Maker) -> None:
        self.answers = made.counter("answers_checked", "Answers held against contexts.", ["of"])
        self.dangling = made.counter("answer_dangling", "Markers that resolve to nothing.", ["of"])
        self.claims = made.counter("answer_claims", "Sentences that say something.", ["of"])
        self.uncited = made.counter("answer_uncited", "Of those, without a marker.", ["of"])
        self.unsupported = made.counter(
            "answer_unsupported", "Of those, with a marker whose text does not say it.", ["of"]
        )
        self.model_seconds = made.histogram(
            "model_seconds", "A model's whole answer.", ["model"], SECONDS
        )
        self.model_answers = made.counter(
            "model_answers", "Answers of models, and how it went.", ["model", "outcome"]
        )
        self.model_tokens = made.counter("model_tokens", "As models count.", ["model", "kind"])
        self.model_cost = made.counter(
            "model_cost_dollars", "At list prices, where they are known.", ["model"]
        )

    def _stores(self, made: _Maker) -> None:
        self.stores = made.gauge("open_stores", "Stores that are open.", mode="livemax")
        self.documents = made.gauge("store_documents", "Documents in them.", mode="livemax")
        self.chunks = made.gauge("store_chunks", "Chunks in them.", mode="livemax")
        self.bytes = made.gauge("store_bytes", "Bytes that they take.", mode="livemax")

    def request(self, route: str, verb: str, status: int, seconds: float) -> None:
        """One that has been answered."""
        self.requests.labels(route, method(verb), str(status)).inc()
        self.request_seconds.labels(route).observe(seconds)

    def work(self, pool: str, taken: int, threads: int) -> None:
        """How many places of a pool are taken now."""
        self.running.labels(pool).set(min(taken, threads))
        self.waiting.labels(pool).set(max(taken - threads, 0))

    def context(self, made: Context, *, cached: bool) -> None:
        """One that is handed out; what its stages did is counted where they ran."""
        recipe = self.names.recipe(made.manifest.recipe)
        chunks, tokens = exclusions(made.trace)
        self.contexts.labels(recipe, "yes" if cached else "no").inc()
        self.context_tokens.labels(recipe).observe(made.token_count)
        self.budget_use.labels(recipe).observe(_use(made))
        self.shown.labels(recipe).inc(len(made.blocks))
        self.excluded.labels(recipe).inc(chunks)
        self.excluded_tokens.labels(recipe).inc(tokens)
        shed = sum(d.reason == "shed" for entry in made.trace for d in entry.decisions)
        self.shed.labels(recipe).inc(shed)
        if not cached:
            self._stages(made)

    def _stages(self, made: Context) -> None:
        for entry in made.trace:
            stage = self.names.step(entry.stage)
            self.stage_in.labels(stage).inc(entry.before)
            self.stage_out.labels(stage).inc(entry.after)
            counts: dict[str, int] = {}
            for decision in entry.decisions:
                counts[decision.reason] = counts.get(decision.reason, 0) + 1
            for code, count in counts.items():
                self.decisions.labels(stage, reason(code)).inc(count)

    def search(self, figures: Any) -> None:
        """One in a store, as `prepare.said_of` has it."""
        exact = "yes" if figures.get("exact") else "no"
        self.searches.labels(badge(figures.get("badge")), exact).inc()
        self.found.inc(figures.get("candidates", 0))

    def checked(self, made: Checked, *, of: str) -> None:
        """An answer held against its context; `of`: the endpoint."""
        self.answers.labels(of).inc()
        self.dangling.labels(of).inc(len(made.dangling))
        self.claims.labels(of).inc(len(made.claims))
        self.uncited.labels(of).inc(len(made.uncited))
        wrong = sum("unsupported" in claim.faults for claim in made.claims)
        self.unsupported.labels(of).inc(wrong)

    def model(self, name: str, seconds: float, usage: Usage, cost: float | None) -> None:
        """A model's whole answer."""
        model = self.names.model(name)
        self.model_answers.labels(model, "answered").inc()
        self.model_seconds.labels(model).observe(seconds)
        counts = {"prompt": usage.prompt, "completion": usage.completion, "cached": usage.cached}
        for kind, count in counts.items():
            if count is not None:
                self.model_tokens.labels(model, kind).inc(count)
        if cost is not None:
            self.model_cost.labels(model).inc(cost)

    def holds(self, stores: int, documents: int, chunks: int, size: int) -> None:
        """What the open stores hold, all together."""
        self.stores.set(stores)
        self.documents.set(documents)
        self.chunks.set(chunks)
        self.bytes.set(size)

    def text(self, accept: str) -> tuple[bytes, str]:
        """Everything, of all processes, as Prometheus reads it; and its media type."""
        from prometheus_client.exposition import choose_encoder

        encode, media_type = choose_encoder(accept)
        return encode(summed() if ensure() else self.registry), media_type


def _use(made: Context) -> float:
    """The share of the tighter limit; the context's own measures take longer to work out."""
    documents, characters = made.budget.documents, made.budget.characters
    of_tokens = made.token_count / documents if documents else 0.0
    return max(of_tokens, len(made.text) / characters if characters else 0.0)


class _Maker:
    """Makes metrics of one registry, all named `foveate_…`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def counter(self, name: str, about: str, labels: list[str] | None = None) -> Counter:
        """Only grows."""
        from prometheus_client import Counter

        return _quick(Counter(f"foveate_{name}", about, labels or [], registry=self._registry))

    def histogram(
        self, name: str, about: str, labels: list[str], buckets: tuple[float, ...]
    ) -> Histogram:
        """How many up to each size."""
        from prometheus_client import Histogram

        name = f"foveate_{name}"
        return _quick(Histogram(name, about, labels, buckets=buckets, registry=self._registry))

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
        return _quick(made)


def _quick(metric: M) -> M:
    """The metric, which finds what belongs to labels without its lock: it is asked all the time."""
    metric.labels = cache(metric.labels)  # type: ignore[method-assign]  # `names.py`: closed lists
    return metric
