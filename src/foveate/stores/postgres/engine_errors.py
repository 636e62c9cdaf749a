"""Where the server's errors become ours, each with what to do. Nothing else knows their codes.

Rules: of a server's error only its first line is repeated, never the detail, which names values.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from foveate.core.errors import BadInput, ExternalError, FoveateError, MissingExtra

_INPUT_ERRORS = {
    "22003": "a number is too large for the store",
    "54000": "an id or a principal is too long for the server's indexes; stay under 2,600 bytes",
    "22021": "a text holds characters that the server cannot keep",
    "22P05": "a text holds characters that the server cannot keep",
}
"""What is wrong with the input."""

_ADVICE = {
    "55P03": "another process is writing; nothing was changed, try again",
    "53100": "the server's disk is full; the store is as it was before, make room and try again",
    "53300": "the server has no connection left; close some, or give a smaller pool=N in the URL",
    "57014": "it took longer than the server allows; nothing was changed, raise statement_timeout",
    "42501": "this role may not; grant it what docs/postgres.md lists",
    "25006": "this server only reads (a standby?); write to its primary",
    "42P01": "a table of the store is gone; restore it from a backup, or index into a new schema",
    "3D000": "there is no such database; create it, or name another",
    "28P01": "the password is wrong",
    "28000": "the server does not let this user in",
}


@contextmanager
def convert_engine_errors(shown: str) -> Iterator[None]:
    """What psycopg raises inside leaves as `ExternalError` or `BadInput`; `shown`: which store."""
    try:
        import psycopg
        import psycopg_pool
    except ImportError:
        raise MissingExtra("psycopg", "postgres") from None
    try:
        yield
    except psycopg_pool.PoolClosed as error:
        raise ExternalError("store: it is closed; open it again") from error
    except psycopg_pool.PoolTimeout as error:
        raise ExternalError(
            f"store {shown}: no connection within {_timeout_text(error)}; "
            "see whether the server runs, or give a larger pool=N in the URL"
        ) from error
    except psycopg.Error as error:
        raise _convert_error(error, shown) from error


def _convert_error(error: Exception, shown: str) -> FoveateError:
    code: str | None = getattr(error, "sqlstate", None)
    diagnosis = getattr(error, "diag", None)
    said = getattr(diagnosis, "message_primary", None) or _first_line(error)
    if code in _INPUT_ERRORS:
        return BadInput(_INPUT_ERRORS[code])
    if code in _ADVICE:
        return ExternalError(f"store {shown}: {_ADVICE[code]} ({said})")
    if code is None or code.startswith(("08", "57P")):
        return ExternalError(
            f"store {shown}: the server is not there, or went away ({said}); what was under way "
            "is undone, try again"
        )
    return ExternalError(f"store {shown}: {said}; nothing was changed")


def _timeout_text(error: Exception) -> str:
    return str(error).partition("after ")[2] or "its time"


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0].strip() if lines else type(error).__name__
