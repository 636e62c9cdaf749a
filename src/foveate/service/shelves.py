"""Stores by tenant: opened at first use, closed when others are used more, never while in use."""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from foveate import plugins
from foveate.adapters.stores import on_lance, on_server, open_store
from foveate.core.errors import BadInput, FoveateError, OutsideFailure
from foveate.ports import Embedder, Store
from foveate.service.problems import ProblemError
from foveate.service.settings import Settings
from foveate.service.stopping import unstopped
from foveate.stored import embedder_named

TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

log = logging.getLogger("foveate.service")


@dataclass(slots=True, kw_only=True)
class Shelf:
    """A tenant's store, the embedder of its vectors, and how many use it now.

    The embedded store is opened once more to write, so that nobody who reads waits for a writer.
    """

    url: str
    store: Store
    embedder: Embedder | None
    users: int = 0
    _writer: Store | None = None
    _lock: Lock = field(default_factory=Lock)

    def writer(self) -> Store:
        """The store, to be written to."""
        with self._lock:
            if self._writer is None:
                apart = not (on_server(self.url) or on_lance(self.url))
                self._writer = open_store(self.url, create=False) if apart else self.store
            return self._writer

    def close(self) -> None:
        """Let go of both."""
        with self._lock:
            if self._writer is not None and self._writer is not self.store:
                self._writer.close()
            self.store.close()


class Shelves:
    """The stores of all tenants. Safe to share between threads; opening one holds up the rest."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: OrderedDict[str, Shelf] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def of(self, tenant: str) -> Iterator[Shelf]:
        """The tenant's store, which stays open meanwhile; raises a 404 or 503 problem."""
        shelf: Shelf | None = None
        try:
            with unstopped():
                shelf = self._taken(tenant)
            yield shelf
        finally:
            if shelf is not None:
                self._left(shelf)

    def _left(self, shelf: Shelf) -> None:
        with unstopped(), self._lock:
            shelf.users -= 1
            self._shrink()

    @contextmanager
    def all(self) -> Iterator[list[Shelf]]:
        """The stores that are open now, which stay open meanwhile."""
        with self._lock:
            shelves = list(self._open.values())
            for shelf in shelves:
                shelf.users += 1
        try:
            yield shelves
        finally:
            with self._lock:
                for shelf in shelves:
                    shelf.users -= 1
                self._shrink()

    def __len__(self) -> int:
        return len(self._open)

    def url_of(self, tenant: str) -> str:
        """Where a tenant's store is; raises a problem where there is none."""
        if not self._settings.store:
            raise ProblemError(404, "no-store", "this service has no store; send candidates along")
        if TENANT.fullmatch(tenant) is None:
            raise ProblemError(403, "tenant", "this key's tenant has no store here")
        if self._settings.many_tenants:
            return self._settings.store.replace("{tenant}", tenant)
        if tenant != "default":
            raise ProblemError(403, "tenant", "this key's tenant has no store here")
        return self._settings.store

    def close(self) -> None:
        """Let go of all stores."""
        with self._lock:
            for shelf in self._open.values():
                shelf.close()
            self._open.clear()

    def _taken(self, tenant: str) -> Shelf:
        url = self.url_of(tenant)
        with self._lock:
            shelf = self._open.get(tenant)
            if shelf is None:
                shelf = self._open[tenant] = self._opened(url)
            self._open.move_to_end(tenant)
            shelf.users += 1
            return shelf

    def _shrink(self) -> None:
        """Close the stores that were used longest ago, but none that is in use."""
        idle = [name for name, shelf in self._open.items() if not shelf.users]
        for name in idle[: max(0, len(self._open) - self._settings.open_stores)]:
            self._open.pop(name).close()

    def _opened(self, url: str) -> Shelf:
        """The store that is there, or a new one; the log says what is wrong with it."""
        try:
            try:
                store = open_store(url, create=False)
            except BadInput:
                if not self._settings.create:
                    raise
                store = self._made(url)
            return Shelf(url=url, store=store, embedder=self._embedder(store))
        except FoveateError as error:
            log.exception("a store cannot be opened")
            raise OutsideFailure("the store cannot be opened") from error

    def _made(self, url: str) -> Store:
        log.warning("the store that the settings name is not there; a new, empty one is made")
        name = self._settings.embedder
        embedder = plugins.embedder(name) if name else None
        return open_store(
            url,
            embedder_name=embedder.name if embedder else "",
            dimensions=embedder.dimensions if embedder else 0,
        )

    def _embedder(self, store: Store) -> Embedder | None:
        try:
            return embedder_named(getattr(store, "embedder_name", ""))
        except FoveateError:
            store.close()
            raise
