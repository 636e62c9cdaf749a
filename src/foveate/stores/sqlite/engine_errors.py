"""Where the engine's errors become ours, each with what to do. Nothing else knows their codes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from foveate.core.errors import BadInput, ExternalError
from foveate.stores.checksums import damage

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_NONSENSE = {0, sqlite3.SQLITE_ERROR}
"""A text that is no UTF-8, a table that is not there: our statements are right on a whole store."""


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether the file itself is what is wrong, or what is written in it."""
    return _error_code(error) in _DAMAGED | _NONSENSE


@contextmanager
def convert_engine_errors() -> Iterator[None]:
    """What SQLite and the file system raise inside leaves as `ExternalError` or `BadInput`."""
    try:
        yield
    except sqlite3.Error as error:
        raise ExternalError(f"store: {_error_advice(error)}") from error
    except OSError as error:
        raise ExternalError(f"store: {error.strerror or error}: {error.filename!r}") from error
    except UnicodeDecodeError:
        raise damage("a text in it is not as it was written") from None
    except UnicodeEncodeError as error:
        raise BadInput(f"a text cannot be stored: {error.reason}") from None
    except OverflowError as error:
        raise BadInput(f"a number is too large for the store: {error}") from error


def _error_advice(error: sqlite3.Error) -> str:
    code = _error_code(error)
    if code == sqlite3.SQLITE_FULL:
        return "the disk is full; the store is as it was before, make room and try again"
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return "another process is writing; nothing was changed, try again"
    if code in _DAMAGED:
        return (
            f"its file is damaged ({error}); foveate store check says where, "
            "then open a backup, or index into a new folder"
        )
    return f"{error}; nothing was changed; foveate store check says whether the store is whole"


def _error_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
