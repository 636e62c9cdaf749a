"""Watches files and folders for changes, by `watchfiles`.

The system does not report a mounted or replaced folder, nor a file that an editor replaces, so the
paths themselves are checked once a second. A burst of changes is one change.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from foveate.core.errors import MissingExtra
from foveate.ingest.document_task import PartsByTask, Preparer, Task, UnchangedDocument
from foveate.ingest.prepare import origin_from_hash
from foveate.ingest.run import Engine
from foveate.ingest.run_state import is_under
from foveate.ingest.walk import Walk
from foveate.ports import Store

ChangedPaths: TypeAlias = frozenset[str] | None
"""Real paths of files and folders; None: everything may have changed."""

_LOOK_MS, _QUIET_MS, _LONGEST_MS = 1_000, 200, 10_000
_MAX_EVENTS = 5_000  # of more, the system may have lost some on the way

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

    def wait(self, seconds: int | None = None) -> ChangedPaths:
        """Wait for changes, at most about `seconds`. Ctrl-C is `KeyboardInterrupt`."""
        for _ in count() if seconds is None else range(seconds):
            found = self._notify.watch(_LONGEST_MS, _QUIET_MS, _LOOK_MS, None)
            if found == "signal":
                raise KeyboardInterrupt
            looked = self._read_states()
            if looked != self._states:
                self._states, self._notify = looked, self._start_notify()
                return None
            if isinstance(found, set):
                return None if len(found) > _MAX_EVENTS else frozenset(path for _, path in found)
        return frozenset()

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


def engine_for_changes(changed: ChangedPaths, doubtful: frozenset[str], engine: Engine) -> Engine:
    """An engine that reads what changed alone, and `doubtful` files, by name; the rest stays."""

    def is_due(task: Task) -> bool:
        if changed is None or not task.known or task.file.name in doubtful:
            return True
        path = task.file.path
        if path.is_symlink():
            return True
        real = path.parent.resolve() / path.name
        return any(str(each) in changed for each in (real, *real.parents))

    def prepared(preparer: Preparer, tasks: Sequence[Task]) -> PartsByTask:
        found = [is_due(task) for task in tasks]
        work = [task for task, due in zip(tasks, found, strict=True) if due]
        with closing(engine(preparer, work)) as done:
            for task, due in zip(tasks, found, strict=True):
                unchanged = (UnchangedDocument(id=identity) for identity in task.known)
                yield next(done) if due else unchanged

    return prepared


def find_empty_scopes(walks: Sequence[Walk], store: Store) -> list[str]:
    """The scopes without files of which the store has documents, as for an unmounted disk."""
    bare = [each.scope for each in walks if not each.files]
    if not bare:
        return []
    origins = {origin_from_hash(stored) for _, stored in store.documents()}
    return [scope for scope in bare if any(is_under(each, scope) for each in origins)]
