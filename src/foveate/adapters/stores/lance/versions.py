"""Which version of the table is the latest, and what is in memory of it. Safe between threads."""

from __future__ import annotations

from threading import RLock
from typing import Any

from foveate.adapters.stores.lance.guard import guard
from foveate.adapters.stores.lance.place import Place
from foveate.adapters.stores.lance.scan import Reader, Scan
from foveate.adapters.stores.lance.snapshot import Snapshot, snapshot


class Versions:
    """Looks each time whether there is a newer one: a read sees what was acknowledged before it."""

    def __init__(self, place: Place, dataset: Any, reader: Reader) -> None:
        self.reader = reader
        self._place, self._dataset = place, dataset
        self._lock = RLock()
        self._snapshot: Snapshot | None = None
        self._scan: tuple[int, Scan] | None = None

    def current(self) -> Snapshot:
        """The latest version."""
        with self._lock, guard(self._place):
            latest = self._dataset.latest_version
            if self._snapshot is None or self._snapshot.version != latest:
                self._dataset = self._dataset.checkout_version(latest)
                self._snapshot = snapshot(self._dataset)
            return self._snapshot

    def scanned(self) -> tuple[Snapshot, Scan]:
        """The latest version, and its rows in memory."""
        with self._lock, guard(self._place):
            now = self.current()
            if self._scan is None or self._scan[0] != now.version:
                self._scan = now.version, self.reader.scan(now)
            return now, self._scan[1]

    def forget(self) -> None:
        """Let go of what is in memory."""
        with self._lock:
            self._scan = self._snapshot = None
            self.reader.forget()
