"""Which version of the table is the latest, and what is in memory of it. Safe between threads."""

from __future__ import annotations

from threading import RLock
from typing import Any

from foveate.stores.lance import files
from foveate.stores.lance.engine_errors import convert_engine_errors
from foveate.stores.lance.location import Location
from foveate.stores.lance.scan import Scan, ScanReader
from foveate.stores.lance.snapshot import Snapshot, load_snapshot


class Versions:
    """Looks each time whether there is a newer one: a read sees what was acknowledged before it."""

    def __init__(self, place: Location, dataset: Any, reader: ScanReader) -> None:
        self.reader = reader
        self._place, self._dataset = place, dataset
        self._lock = RLock()
        self._snapshot: Snapshot | None = None
        self._verified: dict[str, str] = {}
        self._scan: tuple[int, Scan] | None = None

    def current(self, *, verify: bool = True) -> Snapshot:
        """The latest version; raises where its files are not as they were written."""
        with self._lock, convert_engine_errors(self._place):
            latest = self._dataset.latest_version
            if self._snapshot is None or self._snapshot.version != latest:
                self._dataset = self._dataset.checkout_version(latest)
                now = load_snapshot(self._dataset)
                if not verify:
                    return now
                self._verified = files.verify(self._place, now, self._verified)
                self._snapshot = now
            return self._snapshot

    def current_scan(self) -> tuple[Snapshot, Scan]:
        """The latest version, and its rows in memory."""
        with self._lock, convert_engine_errors(self._place):
            now = self.current()
            if self._scan is None or self._scan[0] != now.version:
                self._scan = now.version, self.reader.scan(now)
            return now, self._scan[1]

    def clear(self) -> None:
        """Let go of what is in memory."""
        with self._lock:
            self._scan = self._snapshot = None
            self.reader.clear()
