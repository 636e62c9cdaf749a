"""How much the open stores hold: looked at when somebody asks for metrics, and not too often.

Sizes by part read the whole of an embedded store, so one look serves for a while, and whoever
asks waits for it only so long; the next one gets what it found.
"""

from __future__ import annotations

import asyncio
import logging
from time import monotonic

from foveate.adapters.stores.report import Stats
from foveate.service.observe.metrics import Metrics
from foveate.service.shelves import Shelves

EVERY = 300.0
"""Seconds that a look serves for."""
PATIENCE = 2.0
"""Seconds that a scrape waits for one."""

log = logging.getLogger("foveate.service")


class StoreSizes:
    """The gauges of one process's stores."""

    def __init__(self, metrics: Metrics, shelves: Shelves) -> None:
        self._metrics, self._shelves = metrics, shelves
        self._looking: asyncio.Task[None] | None = None
        self._looked: tuple[float, int] | None = None

    async def refresh(self) -> None:
        """Look again where the last look is old, or another number of stores is open."""
        if self._looking is None and self._is_old():
            self._looking = asyncio.create_task(asyncio.to_thread(self._look))
            self._looking.add_done_callback(self._done)
        if self._looking is not None:
            await asyncio.wait({self._looking}, timeout=PATIENCE)

    async def close(self) -> None:
        """Wait for a look that is under way."""
        if self._looking is not None:
            await asyncio.wait({self._looking})

    def _is_old(self) -> bool:
        if self._looked is None:
            return True
        when, stores = self._looked
        return monotonic() - when >= EVERY or stores != len(self._shelves)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._looking = None
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("stores cannot be measured: %s", type(error).__name__, exc_info=error)

    def _look(self) -> None:
        documents = chunks = size = 0
        with self._shelves.all() as shelves:
            self._looked = monotonic(), len(shelves)
            for shelf in shelves:
                stats = getattr(shelf.store, "stats", None)
                if stats is None:  # a store of another package
                    continue
                found: Stats = stats()
                documents += found.documents
                chunks += found.chunks
                size += sum(found.bytes.values())
        self._metrics.holds(len(shelves), documents, chunks, size)
