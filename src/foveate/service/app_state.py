"""What a running service holds: stores by tenant, the cache, the models, its threads.

It is made before the process serves, so that a wrong setting is reported at start, and closed when
all accepted requests are finished.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from foveate import plugins
from foveate.core.errors import ExternalError
from foveate.core.request import Recipe
from foveate.pipeline.assembler import Assembler
from foveate.pipeline.compressor import Compressor, uses_compressor
from foveate.pipeline.observers import StepObserver
from foveate.pipeline.options import AssembleOptions
from foveate.pipeline.taxonomy import load_taxonomy
from foveate.ports import Cache
from foveate.service.circuit import Circuit, Guarded
from foveate.service.request_options import RequestOptions
from foveate.service.settings import Settings
from foveate.service.tenant_stores import CALLS, TenantStores
from foveate.service.wire.errors import busy_problem
from foveate.service.worker_pool import WorkerPool
from foveate.stores.caches import TIMEOUT_SECONDS, RedisCache, open_cache
from foveate.stores.originals import OriginalStore


@dataclass(frozen=True, slots=True)
class TenantCache:
    """A tenant's part of a cache: equal content of two tenants has equal state roots.

    Tenants' names hold no colon, so the parts are disjoint. While the cache does not answer, it is
    empty.
    """

    cache: Cache
    tenant: str

    def get(self, key: str) -> bytes | None:
        """What this tenant put under the key."""
        with suppress(ExternalError):
            return self.cache.get(self._tenant_key(key))
        return None

    def put(self, key: str, value: bytes) -> None:
        """Keep it for this tenant."""
        with suppress(ExternalError):
            self.cache.put(self._tenant_key(key), value)

    def _tenant_key(self, key: str) -> str:
        return f"{self.tenant}:{key}"


class AnswerSlots:
    """Up to `most` answers of each model at once, `seconds` for each; none waits for a slot.

    `on_change` is called with the slots in use, twice: none waits.
    """

    name = "answering"

    def __init__(self, *, most: int, seconds: float) -> None:
        self.on_change: Callable[[int, int], None] | None = None
        self._limit = most
        self.seconds = seconds
        self._taken = Counter[str]()

    @property
    def in_use(self) -> int:
        """Those of all models."""
        return self._taken.total()

    @contextmanager
    def slot(self, model: str) -> Iterator[None]:
        """A slot for one answer of the model; raises a 503 problem if it has none free."""
        if self._taken[model] >= self._limit:
            raise busy_problem("this model is being asked; come again in a moment", after=2)
        self._change_count(model, 1)
        try:
            yield
        finally:
            self._change_count(model, -1)

    def _change_count(self, model: str, places: int) -> None:
        self._taken[model] += places
        if not self._taken[model]:
            del self._taken[model]
        if self.on_change is not None:
            self.on_change(self.in_use, self.in_use)


class AppState:
    """What is open."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.observers: StepObserver | None = None
        self.request_options = RequestOptions(settings)
        self.taxonomy = load_taxonomy(settings.taxonomy) if settings.taxonomy is not None else None
        seconds, waiting = settings.seconds, settings.waiting
        # Half of a request's time: the context is assembled after these calls.
        self._reranker = Circuit("reranker", seconds=seconds / 2, at_once=settings.threads)
        self._cache = Circuit("cache", seconds=TIMEOUT_SECONDS, at_once=CALLS)
        self.reranker: Any = None
        if settings.reranker:
            self.reranker = Guarded(plugins.reranker(settings.reranker), self._reranker)
        self.compressor = _load_compressor(settings)
        self.cache: Any = open_cache(settings.cache) if settings.cache else None
        if isinstance(self.cache, RedisCache):
            self.cache = Guarded(self.cache, self._cache)
        self.stores = TenantStores(settings)
        self.originals = OriginalStore(
            settings.originals, limit=settings.originals_bytes, days=settings.originals_days
        )
        self.pool = WorkerPool(threads=settings.threads, waiting=waiting, seconds=seconds)
        self.answer_slots = AnswerSlots(most=settings.asking, seconds=settings.answer_seconds)
        # In the tenant's lane, one write at a time: a store has one writer.
        self.write_pool = WorkerPool(
            threads=settings.writers, waiting=waiting, seconds=seconds, name="writing"
        )

    def failing(self) -> list[str]:
        """The kinds of what did not answer in time, and is not asked for now."""
        circuits = (self._reranker, self._cache, *self.stores.circuits())
        return sorted({circuit.name for circuit in circuits if circuit.is_open})

    @contextmanager
    def assembler(
        self, tenant: str, options: AssembleOptions, *, store: bool = True
    ) -> Iterator[Assembler]:
        """The ports for a tenant's request; with the tenant's store, unless `store` is false."""
        recipe = options.recipe
        shortens = isinstance(recipe, Recipe) and uses_compressor(recipe)
        assembler = Assembler(
            options=options,
            reranker=self.reranker,
            taxonomy=self.taxonomy,
            compressor=self.compressor if shortens else None,
            observers=self.observers,
        )
        if not store:
            yield assembler
            return
        with self.stores.borrow(tenant) as opened:
            cache: Any = None if self.cache is None else TenantCache(self.cache, tenant)
            yield replace(assembler, store=opened.store, embedder=opened.embedder, cache=cache)

    async def close(self) -> None:
        """Finish what runs, then close everything."""
        await self.pool.close()
        await self.write_pool.close()
        self.originals.close()
        await asyncio.to_thread(self.stores.close)
        if self.cache is not None:
            self.cache.close()


def _load_compressor(settings: Settings) -> Compressor | None:
    """Its calls take half of a request's time at most: the context is assembled after them."""
    if not settings.compressor:
        return None
    seconds = settings.seconds / 2
    model = plugins.model(settings.compressor)
    return Compressor(model=model, seconds=seconds, within=seconds)
