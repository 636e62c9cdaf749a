"""Where the engine's errors become ours, each with what to do. Nothing else knows their codes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from foveate.core.errors import BadInput, OutsideFailure

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def damaged(error: sqlite3.Error) -> bool:
    """Whether the file itself is what is wrong."""
    return _code(error) in _DAMAGED


@contextmanager
def guard() -> Iterator[None]:
    """What SQLite and the file system raise inside leaves as `OutsideFailure` or `BadInput`."""
    try:
        yield
    except sqlite3.Error as error:
        raise OutsideFailure(f"store: {_advice(error)}") from error
    except OSError as error:
        raise OutsideFailure(f"store: {error.strerror or error}: {error.filename!r}") from error
    except UnicodeEncodeError as error:
        raise BadInput(f"a text cannot be stored: {error.reason}") from None
    except OverflowError as error:
        raise BadInput(f"a number is too large for the store: {error}") from error


def _advice(error: sqlite3.Error) -> str:
    code = _code(error)
    if code == sqlite3.SQLITE_FULL:
        return "the disk is full; the store is as it was before, make room and try again"
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return "another process is writing; nothing was changed, try again"
    if code in _DAMAGED:
        return f"its file is damaged ({error}); open a backup, or index into a new folder"
    return f"{error}; nothing was changed"


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
