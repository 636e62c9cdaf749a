"""A copy of an embedded store at one moment, while others read and write.

It is written aside and synced before it gets its name; nothing is replaced. The file of vectors is
left out: the first search of the copy makes it again.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

from foveate.core.errors import BadInput
from foveate.stores.sqlite import schema
from foveate.stores.sqlite.transactions import convert_engine_errors


def backup(folder: Path | str, target: Path | str) -> None:
    """Copy the store in `folder` to `target`; raises `BadInput` if it exists."""
    folder, target = Path(folder), Path(target)
    _check_target(folder, target)
    aside = target.with_name(f"{target.name}.{os.getpid()}.partial")
    with convert_engine_errors():
        with closing(schema.connect_existing(folder, write=False)) as source:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(aside, ignore_errors=True)
            aside.mkdir()
            try:
                _copy_files(source, aside)
                _check_target(folder, target)
                aside.rename(target)
            except BaseException:
                shutil.rmtree(aside, ignore_errors=True)
                raise
        _fsync(target.parent)


def _check_target(folder: Path, target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise BadInput(f"{str(target)!r} is there already; name a new folder for the copy")
    if target.absolute().resolve().is_relative_to(folder.absolute().resolve()):
        raise BadInput(f"{str(target)!r} lies inside the store; name a folder beside it")


def _copy_files(source: Connection, aside: Path) -> None:
    with closing(sqlite3.connect(aside / schema.DATABASE, isolation_level=None)) as copy:
        source.backup(copy)  # in one go: one read transaction, which stops no writer
    _fsync(aside / schema.DATABASE)
    _fsync(aside)


def _fsync(path: Path) -> None:
    """Wait until it is on the disk; some systems cannot sync a folder, and need not."""
    try:
        number = os.open(path, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(number)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(number)
