"""What observes one process of a service: its metrics, its traces, and the observer of steps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from time import monotonic, perf_counter

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
from foveate.service.observe.metrics import LabelNames, Metrics
from foveate.service.observe.request_state import REQUEST_STATE, add_log_fields, never_raise
from foveate.service.observe.tracing import Traces, check_installed, is_tracing_enabled
from foveate.service.settings import Settings
from foveate.service.tenant_stores import TenantStores
from foveate.service.worker_pool import WorkerPool
from foveate.stores.base import Stats


class StepObserver:
    """Measures the steps of every assembly and search, for metrics and log lines."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics
        self.call_handlers = {"search": self._record_search, "recall": self._record_cache}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Time one step."""
        own = _STAGES.set([]) if name in ASSEMBLY_STEPS else None
        if own is None and name not in CALL_STEPS:
            _STAGES.get([]).append(name)
        step = self.metrics.names.step_label(name)
        begun = perf_counter()
        try:
            yield
        except BaseException:
            self.metrics.step_failures.labels(step).inc()
            raise
        finally:
            self.metrics.steps.labels(step).observe(perf_counter() - begun)
            if own is not None:
                _STAGES.reset(own)

    def on_call(self, name: str, figures: CallFigures) -> None:
        """Record the figures of a call."""
        handler = self.call_handlers.get(name)
        if handler is not None:
            handler(figures)

    def on_context(self, context: Context) -> None:
        """Record a returned context; without a stage it is from the cache."""
        cached = not _STAGES.get([])
        self.metrics.record_context(context, cached=cached)
        seen = REQUEST_STATE.get()
        if seen is None:
            return
        recipe = self.metrics.names.recipe_label(context.manifest.recipe)
        seen.counts.update(recipe=recipe, cached=int(cached), **context_figures(context))
        seen.content.update(query=context.query, text=context.text)

    def _record_search(self, figures: CallFigures) -> None:
        self.metrics.record_search(figures)
        add_log_fields(badge=figures["badge"], found=figures["candidates"])

    def _record_cache(self, figures: CallFigures) -> None:
        self.metrics.cache.labels("hit" if figures["hit"] else "miss").inc()


_STAGES: ContextVar[list[str]] = ContextVar("foveate_stages")


REFRESH_SECONDS = 300.0
"""Seconds that a look serves for."""
SCRAPE_SECONDS = 2.0
"""Seconds that a scrape waits for one."""

log = logging.getLogger("foveate.service")


class StoreSizes:
    """The gauges of one process's stores."""

    def __init__(self, metrics: Metrics, all_opened: TenantStores) -> None:
        self._metrics, self._stores = metrics, all_opened
        self._measuring: asyncio.Task[None] | None = None
        self._last_measured: tuple[float, int] | None = None

    async def refresh(self) -> None:
        """Look again where the last look is old, or another number of stores is open."""
        if self._measuring is None and self._is_old():
            self._measuring = asyncio.create_task(asyncio.to_thread(self._measure))
            self._measuring.add_done_callback(self._on_done)
        if self._measuring is not None:
            await asyncio.wait({self._measuring}, timeout=SCRAPE_SECONDS)

    async def close(self) -> None:
        """Wait for a look that is under way."""
        if self._measuring is not None:
            await asyncio.wait({self._measuring})

    def _is_old(self) -> bool:
        if self._last_measured is None:
            return True
        when, stores = self._last_measured
        return monotonic() - when >= REFRESH_SECONDS or stores != len(self._stores)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._measuring = None
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("stores cannot be measured: %s", type(error).__name__, exc_info=error)

    def _measure(self) -> None:
        documents = chunks = size = 0
        with self._stores.borrow_all() as all_opened:
            self._last_measured = monotonic(), len(all_opened)
            for opened in all_opened:
                stats = getattr(opened.store, "stats", None)
                if stats is None:  # a store of another package
                    continue
                found: Stats = stats()
                documents += found.documents
                chunks += found.chunks
                size += sum(found.bytes.values())
        self._metrics.record_stores(len(all_opened), documents, chunks, size)


class Telemetry:
    """The metrics and traces of a service, from before its first request to after its last.

    `observers` observe every search and assembly. `content`: whether logs and spans may hold
    questions and texts. `recipes`: their names in labels.
    """

    def __init__(self, settings: Settings, recipes: Iterable[str]) -> None:
        self._settings = settings
        listed = plugins.component_registry()
        self.content = settings.log_content
        self.metrics = Metrics(
            LabelNames(recipes=set(recipes), stages=set(listed.stages), models=set(settings.models))
        )
        self.traces: Traces | None = None
        self.store_sizes: StoreSizes | None = None
        self.observers: Observers | None = combine_observers(
            deadline_observer, StepObserver(self.metrics)
        )
        if is_tracing_enabled(settings):
            check_installed()

    async def metrics_text(self, accept: str) -> tuple[bytes, str]:
        """What `/metrics` answers, and its media type."""
        if self.store_sizes is not None:
            await self.store_sizes.refresh()
        return await asyncio.to_thread(self.metrics.text, accept)

    @asynccontextmanager
    async def lifespan(self, state: AppState) -> AsyncIterator[None]:
        """Watch what the service holds, as long as it serves."""
        if is_tracing_enabled(self._settings):
            self.traces = Traces(self._settings, self.metrics.names.recipe_label)
            self.observers = combine_observers(self.observers, self.traces.observers)
        state.observers = self.observers
        self.store_sizes = StoreSizes(self.metrics, state.stores)
        for pool in vars(state).values():
            if isinstance(pool, WorkerPool | AnswerSlots):
                pool.on_change = never_raise(partial(self.metrics.record_pool, pool.name))
        try:
            yield
        finally:
            await self.store_sizes.close()
            if self.traces is not None:
                await asyncio.to_thread(self.traces.close)
