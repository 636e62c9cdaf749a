"""What a running service holds: stores by tenant, the cache, the models, its threads.

Made before the process serves, so that a setting which names nothing is said at once; closed when
it has finished what it took. A store is opened when its tenant first asks; what is wrong with it
is the operator's to read in the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from foveate.adapters.caches import open_cache
from foveate.around import Around
from foveate.ports import Cache
from foveate.service.answering import Answering
from foveate.service.cached import OwnCache
from foveate.service.door import Door
from foveate.service.settings import Settings
from foveate.service.shelves import Shelves
from foveate.service.work import Work


class Held:
    """All that is open. `around`: who watches every assembly, None for nobody.

    `draining`: no longer ready, though requests are still taken.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.draining = False
        self.around: Around | None = None
        self.door = Door(settings)
        self.cache: Cache | None = open_cache(settings.cache) if settings.cache else None
        self.shelves = Shelves(settings)
        self.work = Work(
            threads=settings.threads, waiting=settings.waiting, seconds=settings.seconds
        )
        self.answering = Answering(most=settings.asking, seconds=settings.answer_seconds)
        # One write at a time: the embedded store has one writer, and waits for other processes'.
        self.writing = Work(
            threads=1, waiting=settings.waiting, seconds=settings.seconds, name="writing"
        )

    @property
    def ready(self) -> bool:
        """Whether new requests should come here."""
        return not self.draining

    def cache_of(self, tenant: str) -> Cache | None:
        """The cache as this tenant sees it; None where nothing is kept."""
        return None if self.cache is None else OwnCache(self.cache, tenant)

    async def close(self) -> None:
        """Finish what runs, then let go of everything."""
        await self.work.close()
        await self.writing.close()
        await asyncio.to_thread(self.shelves.close)
        if self.cache is not None:
            self.cache.close()


@asynccontextmanager
async def serving(held: Held) -> AsyncIterator[Held]:
    """What the service holds, for as long as it serves."""
    try:
        yield held
    finally:
        await held.close()
