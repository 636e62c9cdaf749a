"""What watches one process of a service: its metrics, its traces, and the watcher of its steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial

from foveate import plugins
from foveate.around import Guarded, guarded
from foveate.service import stopping
from foveate.service.answering import Answering
from foveate.service.held import Held
from foveate.service.observe.metrics import Metrics
from foveate.service.observe.names import names
from foveate.service.observe.steps import Steps
from foveate.service.observe.stores import StoreSizes
from foveate.service.observe.tracing import Traces, check_installed, wanted
from foveate.service.observe.unbroken import never_raising
from foveate.service.settings import Settings
from foveate.service.work import Work


class Observed:
    """Made before a service takes its first request, closed after its last.

    `around` goes to everything that searches or assembles. `content`: whether logs and spans may
    hold questions and texts. `recipes`: those with a name in figures, where not the registered ones
    alone.
    """

    def __init__(self, settings: Settings, recipes: Iterable[str] | None = None) -> None:
        self._settings = settings
        listed = plugins.known()
        self.content = settings.log_content
        named = plugins.recipe_table() if recipes is None else recipes
        self.metrics = Metrics(names(named, listed.stages, settings.models))
        self.traces: Traces | None = None
        self.sizes: StoreSizes | None = None
        self.around: Guarded | None = guarded(stopping.around, Steps(self.metrics))
        if wanted(settings):
            check_installed()

    async def exposed(self, accept: str) -> tuple[bytes, str]:
        """What `/metrics` answers, and its media type."""
        if self.sizes is not None:
            await self.sizes.refresh()
        return await asyncio.to_thread(self.metrics.text, accept)

    @asynccontextmanager
    async def watching(self, held: Held) -> AsyncIterator[None]:
        """Watch what the service holds, as long as it serves."""
        if wanted(self._settings):
            self.traces = Traces(self._settings, self.metrics.names.recipe)
            self.around = guarded(self.around, self.traces.around)
        held.around = self.around
        self.sizes = StoreSizes(self.metrics, held.shelves)
        for pool in vars(held).values():
            if isinstance(pool, Work | Answering):
                pool.told = never_raising(partial(self.metrics.work, pool.name))
        try:
            yield
        finally:
            await self.sizes.close()
            if self.traces is not None:
                await asyncio.to_thread(self.traces.close)
