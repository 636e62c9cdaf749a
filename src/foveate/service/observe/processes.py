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
def shared_metrics_folder() -> Iterator[None]:
    """A folder for the metrics of processes that are started within the block.

    Their environment names it. A folder that the environment names already is used and stays.
    """
    if ensure_folder():
        yield
        return
    with TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as folder:
        os.environ[FOLDER_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[FOLDER_VARIABLE]


def ensure_folder() -> bool:
    """Whether there are several processes; their folder is made again if it was cleaned away."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    return bool(folder)


def process_registry() -> CollectorRegistry | None:
    """A registry that reads the files of all processes; None if there is one process."""
    if not ensure_folder():
        return None
    registry = CollectorRegistry()
    collector: Any = MultiProcessCollector
    collector(registry)
    return registry
