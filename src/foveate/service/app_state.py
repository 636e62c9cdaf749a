"""What a running service holds: stores by tenant, the cache, the models, its threads.

Made before the process serves, so that a setting which names nothing is said at once; closed when
it has finished what it took. A store is opened when its tenant first asks; what is wrong with it
is the operator's to read in the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from foveate.pipeline.observers import StepObserver
from foveate.pipeline.taxonomy import Taxonomy, load_taxonomy
from foveate.ports import Cache
from foveate.service.answer_slots import AnswerSlots
from foveate.service.request_options import RequestOptions
from foveate.service.settings import Settings
from foveate.service.tenant_cache import TenantCache
from foveate.service.tenant_stores import TenantStores
from foveate.service.worker_pool import WorkerPool
from foveate.stores.caches import open_cache


class AppState:
    """All that is open. `observers`: who watches every assembly, None for nobody.

    `draining`: no longer ready, though requests are still taken.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.draining = False
        self.observers: StepObserver | None = None
        self.request_options = RequestOptions(settings)
        self.taxonomy: Taxonomy | None = (
            load_taxonomy(settings.taxonomy) if settings.taxonomy is not None else None
        )
        self.cache: Cache | None = open_cache(settings.cache) if settings.cache else None
        self.stores = TenantStores(settings)
        self.pool = WorkerPool(
            threads=settings.threads, waiting=settings.waiting, seconds=settings.seconds
        )
        self.answer_slots = AnswerSlots(most=settings.asking, seconds=settings.answer_seconds)
        # In the tenant's lane, one write at a time: a store has one writer.
        self.write_pool = WorkerPool(
            threads=settings.writers,
            waiting=settings.waiting,
            seconds=settings.seconds,
            name="writing",
        )

    @property
    def is_ready(self) -> bool:
        """Whether new requests should come here."""
        return not self.draining

    def cache_for_tenant(self, tenant: str) -> Cache | None:
        """The cache as this tenant sees it; None where nothing is kept."""
        return None if self.cache is None else TenantCache(self.cache, tenant)

    async def close(self) -> None:
        """Finish what runs, then let go of everything."""
        await self.pool.close()
        await self.write_pool.close()
        await asyncio.to_thread(self.stores.close)
        if self.cache is not None:
            self.cache.close()


@asynccontextmanager
async def close_on_exit(held: AppState) -> AsyncIterator[AppState]:
    """What the service holds, for as long as it serves."""
    try:
        yield held
    finally:
        await held.close()
