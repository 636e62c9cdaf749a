"""A watcher for metrics and log lines: how long each step took, and what came of it."""

from __future__ import annotations

from contextvars import ContextVar, Token
from time import perf_counter
from types import TracebackType

from foveate.core.measure import count_exclusions
from foveate.core.types import Context
from foveate.pipeline.observers import ASSEMBLY_STEPS, CALL_STEPS, CallFigures
from foveate.service.observe.metrics import Metrics
from foveate.service.observe.request_state import REQUEST_STATE, add_log_fields


class StepObserver:
    """Watches every assembly and every search of a service. Threads may share it."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics
        self.call_handlers = {"search": self._record_search, "recall": self._record_cache}

    def __call__(self, name: str) -> _StepTimer:
        """One step's time."""
        return _StepTimer(self.metrics, name)

    def on_call(self, name: str, figures: CallFigures) -> None:
        """Figures of a call."""
        tell = self.call_handlers.get(name)
        if tell is not None:
            tell(figures)

    def on_context(self, context: Context) -> None:
        """A context that is handed out; one that no stage made is the cache's."""
        cached = not _STAGES.get([])
        self.metrics.record_context(context, cached=cached)
        seen = REQUEST_STATE.get()
        if seen is None:
            return
        chunks, tokens = count_exclusions(context.trace)
        seen.counts.update(
            recipe=self.metrics.names.recipe_label(context.manifest.recipe),
            cached=int(cached),
            candidates=context.trace[0].before if context.trace else 0,
            blocks=len(context.blocks),
            tokens=context.token_count,
            excluded_chunks=chunks,
            excluded_tokens=tokens,
        )
        if context.budget.documents is not None:
            seen.counts["budget"] = context.budget.documents
        seen.content.update(query=context.query, text=context.text)

    def _record_search(self, figures: CallFigures) -> None:
        self.metrics.record_search(figures)
        add_log_fields(badge=figures["badge"], found=figures["candidates"])

    def _record_cache(self, figures: CallFigures) -> None:
        self.metrics.cache.labels("hit" if figures["hit"] else "miss").inc()


_STAGES: ContextVar[list[str]] = ContextVar("foveate_stages")


class _StepTimer:
    """One step: timed, and noted where it is a stage."""

    __slots__ = ("_begun", "_metrics", "_name", "_own")

    def __init__(self, metrics: Metrics, name: str) -> None:
        self._metrics, self._name = metrics, name
        self._own: Token[list[str]] | None = None

    def __enter__(self) -> None:
        if self._name in ASSEMBLY_STEPS:
            self._own = _STAGES.set([])
        elif self._name not in CALL_STEPS:
            _STAGES.get([]).append(self._name)
        self._begun = perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        seconds = perf_counter() - self._begun
        step = self._metrics.names.step_label(self._name)
        self._metrics.steps.labels(step).observe(seconds)
        if value is not None:
            self._metrics.step_failures.labels(step).inc()
        if self._own is not None:
            _STAGES.reset(self._own)
