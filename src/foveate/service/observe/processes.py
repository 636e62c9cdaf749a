"""Metrics of several processes: each counts in files of its own, which are summed when read.

The files are in a temporary folder that only the service's user can read, and that is removed with
the service. It is locked for that long: one without a lock was left by a killed service, and the
next one removes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.multiprocess import MultiProcessCollector

from foveate.stores.atomic_write import lock_file

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which the metrics' library knows that there are several processes."""
PREFIX = "foveate-metrics-"
FOLDER_ALONE = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


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
    for left in Path(under or gettempdir()).glob(f"{PREFIX}*"):
        with _lock(left) as is_free:
            if is_free:
                rmtree(left, ignore_errors=True)
    with (
        TemporaryDirectory(prefix=PREFIX, dir=under, ignore_cleanup_errors=True) as folder,
        _lock(folder),
    ):
        os.environ[FOLDER_VARIABLE] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[FOLDER_VARIABLE]


@contextmanager
def _lock(folder: str | Path) -> Iterator[bool]:
    """Whether the folder is locked within the block; False if another process has the lock."""
    try:
        opened = os.open(folder, FOLDER_ALONE)
    except OSError:  # it is gone, a link, or on a system that opens no folders
        yield False
        return
    try:
        yield lock_file(opened, wait=False)
    finally:
        os.close(opened)


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
        pass
    return True
