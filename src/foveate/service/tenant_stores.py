"""Stores by tenant: opened at first use, and closed when others are used more."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from foveate import plugins
from foveate.core.errors import BadInput, ExternalError, FoveateError
from foveate.pipeline.store_with_embedder import load_recorded_embedder
from foveate.ports import Store
from foveate.service.auth.keys import TENANT_NAME
from foveate.service.circuit import Circuit, Guarded
from foveate.service.settings import Settings
from foveate.service.wire.errors import ProblemError
from foveate.service.worker_pool import wait_outside
from foveate.stores import is_lance_url, is_server_url, open_store
from foveate.stores.base import BaseStore
from foveate.stores.lazy import StoreNotFound

T = TypeVar("T")

LANCE_SECONDS, CALLS = 10.0, 8
"""Seconds for a call of a store on an object store, and how many there are at once."""

log = logging.getLogger("foveate.service")


@dataclass(slots=True, kw_only=True)
class TenantStore:
    """A tenant's store, the embedder of its vectors, and the number of its users.

    An embedded store is opened a second time to write, so that readers do not wait for a writer.
    What is elsewhere may hang, and is called through a circuit.
    """

    url: str
    settings: Settings
    store: Any = None
    embedder: Any = None
    users: int = 0
    circuit: Circuit | None = None
    embedder_circuit: Circuit | None = None
    _writer: Store | None = None
    _lock: Lock = field(default_factory=Lock)

    def call(self, work: Callable[[], T]) -> T:
        """The work's value, through the store's circuit if it has one."""
        return work() if self.circuit is None else self.circuit.call(work)

    def writer(self) -> Store:
        """The store for writing."""
        with self._lock:
            if self._writer is None:
                apart = self.circuit is None
                self._writer = open_store(self.url, create=False) if apart else self.store
            return self._writer

    def open(self) -> None:
        """Open it, unless it is open; raises `ExternalError`, and the log has the reason."""
        if self.store is None:
            self.call(self._open)

    def _open(self) -> None:
        with self._lock:
            if self.store is not None:
                return
            try:
                store: Any = self._find_store()
                try:
                    embedder: Any = load_recorded_embedder(store.embedder_name)
                except FoveateError:
                    store.close()
                    raise
            except FoveateError as error:
                log.exception("a store cannot be opened")
                raise ExternalError("the store cannot be opened") from error
            if self.circuit is not None:
                store = Guarded(store, self.circuit, put=self.settings.seconds)
            if embedder is not None and ":" in embedder.name:  # on a server
                half = self.settings.seconds / 2
                self.embedder_circuit = Circuit("embedder", seconds=half, at_once=CALLS)
                embedder = Guarded(embedder, self.embedder_circuit)
            self.embedder, self.store = embedder, store

    def _find_store(self) -> BaseStore:
        """The existing store, or a new one."""
        try:
            return open_store(self.url, create=False)
        except BadInput:
            if not self.settings.create:
                raise
        log.warning("the store that the settings name is not there; a new, empty one is made")
        name = self.settings.embedder
        embedder = plugins.embedder(name) if name else None
        return open_store(
            self.url,
            embedder_name=embedder.name if embedder else "",
            dimensions=embedder.dimensions if embedder else 0,
        )

    def close(self) -> None:
        """Close all."""
        with self._lock:
            for store in {id(one): one for one in (self._writer, self.store) if one}.values():
                store.close()


class TenantStores:
    """The stores of all tenants, for all threads; raises `BadOption` for a wrong URL."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._limits: tuple[float, int] | None = None  # seconds of a call, calls at once
        if is_server_url(settings.store):
            from foveate.stores.postgres.connect import parse_url

            address = parse_url(settings.store.replace("{tenant}", "t"))
            self._limits = min(address.wait, settings.seconds), address.pool
        elif is_lance_url(settings.store):
            self._limits = min(LANCE_SECONDS, settings.seconds), CALLS
        self._stores: OrderedDict[str, TenantStore] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def borrow(self, tenant: str) -> Iterator[TenantStore]:
        """The tenant's store, open within the block; raises a 404 or 503 problem."""
        with self._borrow(tenant) as found:
            found.open()
            yield found

    @contextmanager
    def _borrow(self, tenant: str) -> Iterator[TenantStore]:
        url = self.store_url(tenant)
        with self._lock:
            found = self._stores.get(tenant)
            if found is None:
                found = self._stores[tenant] = TenantStore(url=url, settings=self._settings)
                if self._limits is not None:
                    seconds, at_once = self._limits
                    found.circuit = Circuit("store", seconds=seconds, at_once=at_once)
            self._stores.move_to_end(tenant)
            found.users += 1
        try:
            yield found
        finally:
            with self._lock:
                found.users -= 1
                idle = self._remove_idle()
            if idle:
                with wait_outside():
                    for one in idle:
                        one.close()

    def circuits(self) -> Iterator[Circuit]:
        """The circuits of all stores and their embedders."""
        with self._lock:
            found = list(self._stores.values())
        for one in found:
            yield from filter(None, (one.circuit, one.embedder_circuit))

    def __len__(self) -> int:
        return sum(found.store is not None for found in self._stores.values())

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
                with self._borrow(tenant) as found:
                    found.call(lambda: open_store(url, create=False).close())
        except (ProblemError, StoreNotFound):
            return False
        except FoveateError:
            return True
        return True

    def close(self) -> None:
        """Close all."""
        with self._lock:
            for found in self._stores.values():
                found.close()
            self._stores.clear()

    def _remove_idle(self) -> list[TenantStore]:
        """Those that are to be closed."""
        idle = [name for name, found in self._stores.items() if not found.users]
        most = max(0, len(self._stores) - self._settings.open_stores)
        return [self._stores.pop(name) for name in idle[:most]]
