"""Metrics of several processes: each counts in files of its own, which are summed when read.

The files are in a folder that only the service's user can read, and that is removed with the
service. The folder of a killed service is removed when the next one starts: its lock is free.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.multiprocess import MultiProcessCollector

from foveate.stores.atomic_write import lock_file

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which the metrics' library knows that there are several processes."""
PREFIX = "foveate-metrics-"
LOCK_NAME = "lock"
_HAS_LOCKS = sys.platform != "win32"


@contextmanager
def shared_metrics_folder(*, under: Path | None = None) -> Iterator[Path]:
    """The folder for the metrics of processes that are started within the block.

    Their environment names it. A folder that the environment names already is used and stays.
    """
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        Path(given).mkdir(parents=True, exist_ok=True)
        yield Path(given)
        return
    base = under or Path(tempfile.gettempdir())
    remove_stale_folders(base)
    folder, lock = _create_folder(base)
    os.environ[FOLDER_VARIABLE] = str(folder)
    try:
        yield folder
    finally:
        del os.environ[FOLDER_VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _create_folder(base: Path) -> tuple[Path, int | None]:
    """A new folder and its lock; another one if a cleanup got to it before the lock."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        with suppress(FileNotFoundError):
            lock = _try_lock(folder)
            if not _HAS_LOCKS or (lock is not None and (folder / LOCK_NAME).exists()):
                return folder, lock


def remove_stale_folders(base: Path) -> None:
    """Remove the folders of services of this user that are no more."""
    for folder in base.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = _try_lock(folder)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def _try_lock(folder: Path) -> int | None:
    """The folder's lock; None if another process holds it, or the system has none."""
    lock = os.open(folder / LOCK_NAME, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    if lock_file(lock, wait=False):
        return lock
    os.close(lock)
    return None


def ensure_folder() -> bool:
    """Whether there are several processes; their folder is created again if it was removed."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        Path(folder).mkdir(mode=0o700, exist_ok=True)
    return bool(folder)


def multiprocess_registry() -> CollectorRegistry:
    """A registry that reads the files of all processes; gauges of ended processes are removed."""
    _remove_dead_gauges(Path(os.environ[FOLDER_VARIABLE]))
    registry = CollectorRegistry()
    collector: Any = MultiProcessCollector
    collector(registry)
    return registry


def _remove_dead_gauges(folder: Path) -> None:
    """Remove the gauges of ended processes; their counters stay."""
    for path in folder.glob("gauge_live*_*.db"):
        number = path.stem.rpartition("_")[2]
        if number.isdigit() and not _is_alive(int(number)):
            path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
