"""What observes one process of a service: its metrics, its traces, and the observer of steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from time import perf_counter

from foveate import plugins
from foveate.core.types import Context
from foveate.pipeline.observers import (
    ASSEMBLY_STEPS,
    CALL_STEPS,
    CallFigures,
    Observers,
    combine_observers,
)
from foveate.pipeline.tracing import context_figures
from foveate.service.app_state import AnswerSlots, AppState
from foveate.service.deadline import deadline_observer
from foveate.service.observe.metrics import Metrics
from foveate.service.observe.request_state import REQUEST_STATE, log_errors
from foveate.service.observe.tracing import Traces, check_installed, is_tracing_enabled
from foveate.service.settings import Settings
from foveate.service.worker_pool import WorkerPool, outside_observer

_STAGES: ContextVar[list[str]] = ContextVar("foveate_stages")


class StepObserver:
    """Measures the steps of every assembly and search, for metrics and log lines."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time one step."""
        own = _STAGES.set([]) if name in ASSEMBLY_STEPS else None
        if own is None and name not in CALL_STEPS:
            _STAGES.get([]).append(name)
        begun = perf_counter()
        try:
            yield
        except BaseException:
            self.metrics.of("step_failures", step=name).inc()
            raise
        finally:
            self.metrics.of("step_seconds", step=name).observe(perf_counter() - begun)
            if own is not None:
                _STAGES.reset(own)

    def on_call(self, name: str, figures: CallFigures) -> None:
        """Record a search, or whether the cache had the context."""
        if name == "recall":
            self.metrics.of("cache_requests", outcome="hit" if figures["hit"] else "miss").inc()
        elif name == "search":
            exact = "yes" if figures.get("exact") else "no"
            self.metrics.of("searches", badge=figures["badge"], exact=exact).inc()
            if (seen := REQUEST_STATE.get(None)) is not None:
                seen.counts.update(badge=figures["badge"], found=figures["candidates"])

    def on_context(self, context: Context) -> None:
        """Record a returned context; without a stage it is from the cache."""
        cached = not _STAGES.get([])
        self.metrics.record_context(context, cached=cached)
        if (seen := REQUEST_STATE.get(None)) is not None:
            recipe = self.metrics.label("recipe", context.manifest.recipe)
            seen.counts.update(recipe=recipe, cached=int(cached), **context_figures(context))
            seen.content.update(query=context.query, text=context.text)


class Telemetry:
    """The metrics and traces of a service, from before its first request to after its last.

    `observers` observe every search and assembly. `content`: whether logs and spans may hold
    questions and texts. `audit`: whether who asked is logged. `recipes`: their names in labels.
    """

    def __init__(self, settings: Settings, recipes: Iterable[str]) -> None:
        self._settings = settings
        self.content, self.audit = settings.log_content, settings.log_audit
        stages = plugins.component_registry().stages
        self.metrics = Metrics(recipes=set(recipes), stages=stages, models=settings.models)
        self.traces: Traces | None = None
        self.observers: Observers | None = combine_observers(
            deadline_observer, outside_observer, StepObserver(self.metrics)
        )
        if is_tracing_enabled(settings):
            check_installed()

    @asynccontextmanager
    async def lifespan(self, state: AppState) -> AsyncIterator[None]:
        """Watch what the service holds, as long as it serves."""
        if is_tracing_enabled(self._settings):
            self.traces = Traces(self._settings, partial(self.metrics.label, "recipe"))
            self.observers = combine_observers(self.observers, self.traces.observers)
        state.observers = self.observers
        for pool in vars(state).values():
            if isinstance(pool, WorkerPool | AnswerSlots):
                pool.on_change = log_errors()(partial(self.metrics.record_pool, pool.name))
        try:
            yield
        finally:
            if self.traces is not None:
                await asyncio.to_thread(self.traces.close)
