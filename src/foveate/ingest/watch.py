"""Watches files and folders for changes, by `watchfiles`.

The system does not report a mounted or replaced folder, nor a file that an editor replaces, so the
paths themselves are checked once a second. A burst of changes is one change.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from foveate.core.errors import MissingExtra
from foveate.ingest.prepare import origin_from_hash
from foveate.ingest.run_state import is_under
from foveate.ingest.walk import Walk
from foveate.ports import Store

_LOOK_MS, _QUIET_MS, _LONGEST_MS = 1_000, 200, 10_000
_PathState: TypeAlias = tuple[int, ...] | None


class Watcher:
    """Watches from when it is made. Raises `MissingExtra` without the package."""

    def __init__(self, paths: Sequence[Path]) -> None:
        try:
            from watchfiles import _rust_notify
        except ImportError:
            raise MissingExtra("watchfiles", "watch") from None
        self._make: Any = _rust_notify.RustNotify
        self._paths = paths
        self._states = self._read_states()
        self._notify = self._start_notify()

    def wait(self, seconds: int | None = None) -> None:
        """Wait for changes, at most about `seconds`. Ctrl-C is `KeyboardInterrupt`."""
        for _ in count() if seconds is None else range(seconds):
            found = self._notify.watch(_LONGEST_MS, _QUIET_MS, _LOOK_MS, None)
            if found == "signal":
                raise KeyboardInterrupt
            looked = self._read_states()
            if looked != self._states:
                self._states, self._notify = looked, self._start_notify()
                return
            if isinstance(found, set):
                return

    def _read_states(self) -> list[_PathState]:
        return [_path_state(path) for path in self._paths]

    def _start_notify(self) -> Any:
        folders = [str(path.resolve()) for path in self._paths if path.is_dir()]
        try:
            return self._make(folders, False, False, 0, True, True)
        except FileNotFoundError:  # gone since: the next look finds it
            return self._make([], False, False, 0, True, True)


def _path_state(path: Path) -> _PathState:
    try:
        found = path.stat()
    except OSError:
        return None
    if path.is_dir():
        return (found.st_dev, found.st_ino)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def find_empty_scopes(walks: Sequence[Walk], store: Store) -> list[str]:
    """The scopes without files of which the store has documents, as for an unmounted disk."""
    bare = [each.scope for each in walks if not each.files]
    if not bare:
        return []
    origins = {origin_from_hash(stored) for _, stored in store.documents()}
    return [scope for scope in bare if any(is_under(each, scope) for each in origins)]
