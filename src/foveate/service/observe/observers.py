"""What watches one process of a service: its metrics, its traces, and the watcher of its steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial

from foveate import plugins
from foveate.pipeline.observers import Observers, combine_observers
from foveate.service import cancellation
from foveate.service.answer_slots import AnswerSlots
from foveate.service.app_state import AppState
from foveate.service.observe.guarded import never_raise
from foveate.service.observe.metrics import Metrics
from foveate.service.observe.names import build_label_names
from foveate.service.observe.steps import StepObserver
from foveate.service.observe.stores import StoreSizes
from foveate.service.observe.tracing import Traces, check_installed, is_tracing_enabled
from foveate.service.settings import Settings
from foveate.service.worker_pool import WorkerPool


class Telemetry:
    """Made before a service takes its first request, closed after its last.

    `observers` goes to everything that searches or assembles. `content`: whether logs and spans may
    hold questions and texts. `recipes`: those with a name in figures, where not the registered ones
    alone.
    """

    def __init__(self, settings: Settings, recipes: Iterable[str] | None = None) -> None:
        self._settings = settings
        listed = plugins.component_registry()
        self.content = settings.log_content
        named = plugins.recipe_table() if recipes is None else recipes
        self.metrics = Metrics(build_label_names(named, listed.stages, settings.models))
        self.traces: Traces | None = None
        self.store_sizes: StoreSizes | None = None
        self.observers: Observers | None = combine_observers(
            cancellation.cancellation_observer, StepObserver(self.metrics)
        )
        if is_tracing_enabled(settings):
            check_installed()

    async def metrics_text(self, accept: str) -> tuple[bytes, str]:
        """What `/metrics` answers, and its media type."""
        if self.store_sizes is not None:
            await self.store_sizes.refresh()
        return await asyncio.to_thread(self.metrics.text, accept)

    @asynccontextmanager
    async def lifespan(self, held: AppState) -> AsyncIterator[None]:
        """Watch what the service holds, as long as it serves."""
        if is_tracing_enabled(self._settings):
            self.traces = Traces(self._settings, self.metrics.names.recipe_label)
            self.observers = combine_observers(self.observers, self.traces.observers)
        held.observers = self.observers
        self.store_sizes = StoreSizes(self.metrics, held.stores)
        for pool in vars(held).values():
            if isinstance(pool, WorkerPool | AnswerSlots):
                pool.on_change = never_raise(partial(self.metrics.record_pool, pool.name))
        try:
            yield
        finally:
            await self.store_sizes.close()
            if self.traces is not None:
                await asyncio.to_thread(self.traces.close)
