"""Metrics of several processes: each counts in files of its own, which are summed when read.

The files are in a temporary folder that only the service's user can read, and that is removed with
the service.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which the metrics' library knows that there are several processes."""
PREFIX = "foveate-metrics-"


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
    with TemporaryDirectory(prefix=PREFIX, dir=under, ignore_cleanup_errors=True) as folder:
        os.environ[FOLDER_VARIABLE] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ[FOLDER_VARIABLE]


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
