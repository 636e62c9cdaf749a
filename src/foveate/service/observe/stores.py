"""How much the open stores hold: looked at when somebody asks for metrics, and not too often.

Sizes by part read the whole of an embedded store, so one look serves for a while, and whoever
asks waits for it only so long; the next one gets what it found.
"""

from __future__ import annotations

import asyncio
import logging
from time import monotonic

from foveate.service.observe.metrics import Metrics
from foveate.service.tenant_stores import TenantStores
from foveate.stores.report import Stats

REFRESH_SECONDS = 300.0
"""Seconds that a look serves for."""
SCRAPE_SECONDS = 2.0
"""Seconds that a scrape waits for one."""

log = logging.getLogger("foveate.service")


class StoreSizes:
    """The gauges of one process's stores."""

    def __init__(self, metrics: Metrics, shelves: TenantStores) -> None:
        self._metrics, self._stores = metrics, shelves
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
        with self._stores.borrow_all() as shelves:
            self._last_measured = monotonic(), len(shelves)
            for shelf in shelves:
                stats = getattr(shelf.store, "stats", None)
                if stats is None:  # a store of another package
                    continue
                found: Stats = stats()
                documents += found.documents
                chunks += found.chunks
                size += sum(found.bytes.values())
        self._metrics.record_stores(len(shelves), documents, chunks, size)
