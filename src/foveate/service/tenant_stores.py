"""Stores by tenant: opened at first use, and closed when others are used more."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from foveate import plugins
from foveate.core.errors import BadInput, ExternalError, FoveateError
from foveate.pipeline.store_with_embedder import load_recorded_embedder
from foveate.ports import Embedder, Store
from foveate.service.auth.keys import TENANT_NAME
from foveate.service.problems import ProblemError
from foveate.service.settings import Settings
from foveate.stores import is_lance_url, is_server_url, open_store
from foveate.stores.base import BaseStore
from foveate.stores.lazy import StoreNotFound

log = logging.getLogger("foveate.service")


@dataclass(slots=True, kw_only=True)
class TenantStore:
    """A tenant's store, the embedder of its vectors, and the number of its users.

    An embedded store is opened a second time to write, so that readers do not wait for a writer.
    """

    url: str
    store: Store
    embedder: Embedder | None
    users: int = 0
    _writer: Store | None = None
    _lock: Lock = field(default_factory=Lock)

    def writer(self) -> Store:
        """The store for writing."""
        with self._lock:
            if self._writer is None:
                apart = not (is_server_url(self.url) or is_lance_url(self.url))
                self._writer = open_store(self.url, create=False) if apart else self.store
            return self._writer

    def close(self) -> None:
        """Close all."""
        with self._lock:
            if self._writer is not None and self._writer is not self.store:
                self._writer.close()
            self.store.close()


class TenantStores:
    """The stores of all tenants, for all threads; opening one blocks the others."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open_stores: OrderedDict[str, TenantStore] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def borrow(self, tenant: str) -> Iterator[TenantStore]:
        """The tenant's store, open within the block; raises a 404 or 503 problem."""
        opened = self._acquire(tenant)
        try:
            yield opened
        finally:
            with self._lock:
                opened.users -= 1
                self._close_idle()

    def __len__(self) -> int:
        return len(self._open_stores)

    def store_url(self, tenant: str) -> str:
        """The URL of a tenant's store; raises a problem if it has none."""
        if not self._settings.store:
            raise ProblemError(404, "no-store", "this service has no store; send candidates along")
        if TENANT_NAME.fullmatch(tenant) is None:
            raise ProblemError(403, "tenant", "this key's tenant has no store here")
        if self._settings.has_tenant_stores:
            return self._settings.store.replace("{tenant}", tenant)
        if tenant != "default":
            raise ProblemError(403, "tenant", "this key's tenant has no store here")
        return self._settings.store

    def has_store(self, tenant: str) -> bool:
        """Whether the tenant has a store, or gets one at its first use; it may be out of reach."""
        try:
            url = self.store_url(tenant)
            if self._settings.has_tenant_stores and not self._settings.create:
                open_store(url, create=False).close()
        except (ProblemError, StoreNotFound):
            return False
        except FoveateError:
            return True
        return True

    def close(self) -> None:
        """Close all."""
        with self._lock:
            for opened in self._open_stores.values():
                opened.close()
            self._open_stores.clear()

    def _acquire(self, tenant: str) -> TenantStore:
        url = self.store_url(tenant)
        with self._lock:
            opened = self._open_stores.get(tenant)
            if opened is None:
                opened = self._open_stores[tenant] = self._open_store(url)
            self._open_stores.move_to_end(tenant)
            opened.users += 1
            return opened

    def _close_idle(self) -> None:
        idle = [name for name, opened in self._open_stores.items() if not opened.users]
        for name in idle[: max(0, len(self._open_stores) - self._settings.open_stores)]:
            self._open_stores.pop(name).close()

    def _open_store(self, url: str) -> TenantStore:
        """The existing store, or a new one; the log has the reason of a failure."""
        try:
            try:
                store = open_store(url, create=False)
            except BadInput:
                if not self._settings.create:
                    raise
                store = self._create_store(url)
            return TenantStore(url=url, store=store, embedder=self._load_embedder(store))
        except FoveateError as error:
            log.exception("a store cannot be opened")
            raise ExternalError("the store cannot be opened") from error

    def _create_store(self, url: str) -> BaseStore:
        log.warning("the store that the settings name is not there; a new, empty one is made")
        name = self._settings.embedder
        embedder = plugins.embedder(name) if name else None
        return open_store(
            url,
            embedder_name=embedder.name if embedder else "",
            dimensions=embedder.dimensions if embedder else 0,
        )

    def _load_embedder(self, store: BaseStore) -> Embedder | None:
        try:
            return load_recorded_embedder(store.embedder_name)
        except FoveateError:
            store.close()
            raise
