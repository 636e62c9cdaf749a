"""Prometheus metrics: one table of counts, durations and sizes, with label values of closed lists.

No label and no value names a caller, a question or a document: tenants, principals, ids, keys and
texts are in none of them. With several processes each counts in files of its own, which are summed
when metrics are read: in a temporary folder that only the service's user can read, and that is
removed with the service.
"""

from __future__ import annotations

import os
from collections import Counter as Counts
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector

from foveate._version import __version__
from foveate.answer.check import AnswerCheck
from foveate.core.measure import count_exclusions
from foveate.core.types import Context
from foveate.pipeline.observers import ASSEMBLY_STEPS, CALL_STEPS
from foveate.pipeline.reason_messages import REASON_SENTENCES
from foveate.ports import Usage

OTHER = {"recipe": "inline"}
"""What a label says of a value that is in no list, where that is not `other`."""
KNOWN: Mapping[str, Collection[str]] = {
    "method": {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"},
    "step": frozenset(
        {"input", "render", "cite", "seal", "smallest", *CALL_STEPS, *ASSEMBLY_STEPS}
    ),
    "reason": {*REASON_SENTENCES, "stitched"},
    "badge": {"hybrid", "vector_only"},
}
"""Label → its values. They stay in memory, and a caller's text has no place in metrics."""
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
STEP_SECONDS = (0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
TOKENS = (100, 250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)


class Spec(NamedTuple):
    """A metric: its help, its labels; buckets if it is a histogram."""

    about: str
    labels: str = ""
    buckets: tuple[float, ...] = ()


GAUGES = {
    "requests_in_flight": Spec("HTTP requests received and not yet answered."),
    "work_running": Spec("Requests running in a worker pool.", "pool"),
    "work_waiting": Spec("Requests waiting for a worker pool.", "pool"),
}
HISTOGRAMS = {
    "request_seconds": Spec(
        "Seconds from the head of an HTTP request to the end of its response.", "route", SECONDS
    ),
    "context_tokens": Spec("Tokens in a returned context.", "recipe", TOKENS),
    "budget_use_ratio": Spec("Share of its budget that a returned context uses.", "recipe", SHARES),
    "step_seconds": Spec(
        "Seconds spent in a stage, or in a call to a store, an embedder or a model.",
        "step",
        STEP_SECONDS,
    ),
    "model_seconds": Spec("Seconds until a model completes its answer.", "model", SECONDS),
}
COUNTERS = {
    "requests": Spec("HTTP requests answered, by route, method and status.", "route method status"),
    "contexts": Spec("Contexts returned to callers.", "recipe cached"),
    "shown_blocks": Spec("Blocks in returned contexts.", "recipe"),
    "excluded_chunks": Spec("Chunks left out of contexts because of the budget.", "recipe"),
    "excluded_tokens": Spec(
        "Tokens of the chunks left out of contexts because of the budget.", "recipe"
    ),
    "shed_blocks": Spec("Blocks removed from contexts by the final token count.", "recipe"),
    "step_failures": Spec("Stages and external calls that raised an error.", "step"),
    "decisions": Spec("Decisions of stages about candidates, by reason.", "stage reason"),
    "searches": Spec("Searches run in a store.", "badge exact"),
    "cache_requests": Spec("Lookups in the context cache, by outcome.", "outcome"),
    "answers_checked": Spec("Answers checked against their contexts.", "of"),
    "answer_dangling": Spec("Citation markers in checked answers that resolve to no source.", "of"),
    "answer_claims": Spec("Claims found in checked answers.", "of"),
    "answer_uncited": Spec("Claims in checked answers without a citation marker.", "of"),
    "answer_unsupported": Spec(
        "Claims in checked answers that the cited source does not support.", "of"
    ),
    "model_answers": Spec("Answers requested from models, by outcome.", "model outcome"),
    "model_tokens": Spec("Tokens read and written by models, as each model counts.", "model kind"),
}


class Metrics:
    """The metrics of one process, made once. Threads may share it.

    `recipes`, `stages`, `models`: the names that operators know, for labels.
    """

    def __init__(
        self, *, recipes: Collection[str], stages: Collection[str], models: Collection[str]
    ) -> None:
        ensure_folder()
        # They double what is read, and no query here uses them.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        steps = {*KNOWN["step"], *stages}
        self._known = {**KNOWN, "recipe": set(recipes), "model": set(models)}
        self._known |= {"step": steps, "stage": steps}
        self.registry = CollectorRegistry()
        self._metrics: dict[str, Any] = {}
        for name, spec in COUNTERS.items():
            self._add(Counter, name, spec)
        for name, spec in HISTOGRAMS.items():
            self._add(Histogram, name, spec, buckets=spec.buckets)
        for name, spec in GAUGES.items():
            self._add(Gauge, name, spec, multiprocess_mode="livesum")
        version = Spec("Version of foveate that is running.", "version")
        self._add(Gauge, "build_info", version, multiprocess_mode="max")
        self.of("build_info", version=__version__).set(1)

    def _add(self, kind: Any, name: str, spec: Spec, **more: Any) -> None:
        labels = spec.labels.split()
        self._metrics[name] = kind(
            f"foveate_{name}", spec.about, labels, registry=self.registry, **more
        )

    def label(self, name: str, value: object) -> str:
        """A label's value, of its closed list if it has one."""
        text = str(value)
        known = self._known.get(name)
        return text if known is None or text in known else OTHER.get(name, "other")

    def of(self, name: str, **labels: object) -> Any:
        """The metric with these labels, in the types of Prometheus' library."""
        metric = self._metrics[name]
        found = {label: self.label(label, value) for label, value in labels.items()}
        return metric.labels(**found) if found else metric

    def record_pool(self, pool: str, taken: int, threads: int) -> None:
        """Set the requests in a pool."""
        self.of("work_running", pool=pool).set(min(taken, threads))
        self.of("work_waiting", pool=pool).set(max(taken - threads, 0))

    def record_context(self, made: Context, *, cached: bool) -> None:
        """Count a returned context, and the decisions if its stages ran for it."""
        recipe = made.manifest.recipe
        chunks, tokens = count_exclusions(made.trace)
        reasons = Counts((e.stage, d.reason) for e in made.trace for d in e.decisions)
        self.of("contexts", recipe=recipe, cached="yes" if cached else "no").inc()
        self.of("context_tokens", recipe=recipe).observe(made.token_count)
        self.of("budget_use_ratio", recipe=recipe).observe(_budget_share(made))
        counts = {
            "shown_blocks": len(made.blocks),
            "excluded_chunks": chunks,
            "excluded_tokens": tokens,
            "shed_blocks": sum(n for (_, reason), n in reasons.items() if reason == "shed"),
        }
        for name, count in counts.items():
            self.of(name, recipe=recipe).inc(count)
        for (stage, reason), count in () if cached else reasons.items():
            self.of("decisions", stage=stage, reason=reason).inc(count)

    def record_check(self, made: AnswerCheck, *, of: str) -> None:
        """Count a checked answer; `of`: the endpoint."""
        counts = {
            "answers_checked": 1,
            "answer_dangling": len(made.dangling),
            "answer_claims": len(made.claims),
            "answer_uncited": len(made.uncited),
            "answer_unsupported": sum("unsupported" in one.faults for one in made.claims),
        }
        for name, count in counts.items():
            self.of(name, of=of).inc(count)

    def record_model(self, model: str, seconds: float, usage: Usage) -> None:
        """Count a complete answer of a model."""
        self.of("model_answers", model=model, outcome="answered").inc()
        self.of("model_seconds", model=model).observe(seconds)
        counts = {"prompt": usage.prompt, "completion": usage.completion, "cached": usage.cached}
        for kind, count in counts.items():
            if count is not None:
                self.of("model_tokens", model=model, kind=kind).inc(count)

    def text(self, accept: str) -> tuple[bytes, str]:
        """The metrics of all processes as Prometheus reads them, and their media type."""
        encode, media_type = choose_encoder(accept)
        registry = self.registry
        if ensure_folder():
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return encode(registry), media_type


def _budget_share(made: Context) -> float:
    """The share of the tighter limit; the context's own measures take longer to compute."""
    documents, characters = made.budget.documents, made.budget.characters
    of_tokens = made.token_count / documents if documents else 0.0
    return max(of_tokens, len(made.text) / characters if characters else 0.0)


FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which the metrics' library knows that there are several processes."""
PREFIX = "foveate-metrics-"


@contextmanager
def shared_metrics_folder() -> Iterator[None]:
    """A folder for the metrics of processes that are started within the block.

    Their environment names it. A folder that the environment names already is used and stays.
    """
    if ensure_folder():
        yield
        return
    with TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder:
        os.environ[FOLDER_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[FOLDER_VARIABLE]


def ensure_folder() -> bool:
    """Whether there are several processes; their folder is made again if it was cleaned away."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    return bool(folder)
