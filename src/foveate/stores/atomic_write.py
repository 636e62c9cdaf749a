"""Writes a file under a temporary name and renames it at the end.

The writer holds a lock on its temporary file, which ends with the process. A temporary file
without a lock was left by a killed run and is removed; without locks, none is removed.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import IO


@contextmanager
def atomic_write(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file with the mode of the existing one, and rename it at the end.

    `private`: readable by its owner alone, from the first byte on.
    """
    _remove_left_over(path)
    aside, opened = _open_locked(path, 0o600 if private else 0o666)
    held = os.dup(opened.fileno())  # the lock outlives the file: until it has its name
    try:
        with opened as file:
            if not private and path.exists():
                aside.chmod(S_IMODE(path.stat().st_mode))
            yield file
        aside.replace(path)
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        os.close(held)


def _open_locked(path: Path, mode: int) -> tuple[Path, IO[bytes]]:
    """A new file beside the path, locked; no file or link that is there already is opened."""
    while True:
        aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        file = os.fdopen(os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, mode), "wb")
        lock_file(file, wait=True)
        with suppress(OSError):
            if os.path.samestat(os.fstat(file.fileno()), aside.stat()):
                return aside, file
        file.close()  # another process took it for a left-over before it was locked


_BINARY = getattr(os, "O_BINARY", 0)


def _remove_left_over(path: Path) -> None:
    """What runs that were killed left beside it."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]+\.part")
    with suppress(OSError):
        for entry in list(os.scandir(path.parent)):
            if ours.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError), Path(entry).open("r+b") as file:
                    if lock_file(file, wait=False):
                        Path(entry).unlink()


def lock_file(file: IO[bytes] | int, *, wait: bool) -> bool:
    """Whether the open file is locked now; False if another has it, or without locks here."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
