"""The URL of a server store, its connections, batches and errors.

A password is taken out of the URL first, so that no error can repeat it.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from foveate.core.errors import BadInput, BadOption, ExternalError, FoveateError, MissingExtra
from foveate.stores.base import StoreFull

SCHEMES = ("postgresql", "postgres")
_SECRETS = {
    *("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")
}
_OWN_OPTIONS = {"schema", "pool", "wait", "exact"}
_PRINTABLE_OPTIONS = {
    *("host", "hostaddr", "port", "dbname", "user", "service", "sslmode", "connect_timeout"),
    *("application_name", "target_session_attrs", "load_balance_hosts", *_OWN_OPTIONS),
}
"""What says which store it is; libpq's other words may be secrets, or be wrongly written ones."""
_URL = re.compile(
    r"(?P<scheme>\w+)://(?:(?P<user>[^/?#@]*)@)?(?P<host>[^/?#@]*)(?P<path>/[^?#@]*)?(?:\?(?P<query>[^@]*))?"
)
_HOSTS = re.compile(r"(?:(?:\[[^\]]*\]|[^:,\[\]]*)(?::\d*)?(?:,|$))*")
_UNREADABLE = (
    "the store's URL cannot be read; write postgresql://USER@HOST:PORT/DATABASE?schema=NAME, with "
    "what is special in a name or a password percent-encoded"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A store's URL in parts; `wait`: seconds for a connection of the `pool`, a lock, a read."""

    display_url: str
    conninfo: str = field(repr=False)
    secrets: Mapping[str, str] = field(repr=False)
    schema: str = "foveate"
    pool: int = 8
    wait: int = 10
    exact: int = 300_000


def parse_url(url: str) -> Address:
    """The parts of a URL; raises `BadOption`, without repeating what cannot be read."""
    found = _URL.fullmatch(url)
    if (
        found is None
        or found["scheme"].lower() not in SCHEMES
        or not _HOSTS.fullmatch(found["host"])
    ):
        raise BadOption(_UNREADABLE)
    user, colon, password = (found["user"] or "").partition(":")
    secrets = {"password": unquote(password)} if colon and password else {}
    ours: dict[str, str] = {}
    theirs: list[tuple[str, str]] = []
    for name, value in parse_qsl(found["query"] or "", keep_blank_values=True):
        if name.lower() in _SECRETS:
            secrets[name.lower()] = value
        elif name in _OWN_OPTIONS:
            ours[name] = value
        else:
            theirs.append((name, value))
    if any("\0" in part for part in (unquote(url), *secrets.values())):
        raise BadOption(_UNREADABLE)
    base = f"postgresql://{user}{'@' * bool(user)}{found['host']}{found['path'] or ''}"
    return Address(
        display_url=_join_query(
            base, [part for part in (*theirs, *ours.items()) if part[0] in _PRINTABLE_OPTIONS]
        ),
        conninfo=_join_query(base, theirs),
        secrets=secrets,
        schema=_check_schema_name(ours.get("schema", "foveate")),
        pool=_parse_number("pool", ours.get("pool", "8"), least=1),
        wait=_parse_number("wait", ours.get("wait", "10"), least=1),
        exact=_parse_number("exact", ours.get("exact", "300000"), least=0),
    )


def _join_query(base: str, query: list[tuple[str, str]]) -> str:
    # libpq reads %20 and not +.
    return f"{base}?{urlencode(query, quote_via=quote, safe='/')}" if query else base


def _check_schema_name(name: str) -> str:
    if not name or len(name.encode(errors="replace")) > 63 or name.startswith("pg_"):
        raise BadOption(
            f"store: schema {name!r}; give a name of 1 to 63 bytes that does not begin with pg_"
        )
    return name


def _parse_number(name: str, value: str, *, least: int) -> int:
    if not value.isascii() or not value.isdigit() or int(value) < least:
        raise BadOption(f"store: {name}={value} in the URL; give a number, {least} or more")
    return int(value)


def connection_settings(where: Address) -> dict[str, Any]:
    """Connection parameters for psycopg; raises `BadOption` for one that libpq does not know."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parameters: dict[str, Any] = conninfo_to_dict(where.conninfo)
    except ProgrammingError:
        # Its message repeats what it does not know, which may be a part of a password.
        raise BadOption(
            f"store {where.display_url!r}: libpq cannot read the URL's query or an escape "
            "in it; its "
            "names are schema, pool, wait and exact, and what PostgreSQL's documentation lists as "
            "connection parameters, in small letters; percent-encode what is special"
        ) from None
    # A server that is gone without a word is noticed: without these, after hours.
    lost = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
    lost |= {"connect_timeout": where.wait, "tcp_user_timeout": 1_000 * where.wait}
    defaults = {"fallback_application_name": "foveate", **lost}
    return {**defaults, **parameters, **where.secrets, "client_encoding": "UTF8"}


_INPUT_ERRORS = {
    "22003": "a number is too large for the store",
    "54000": "an id or a principal is too long for the server's indexes; stay under 2,600 bytes",
    "22021": "a text holds characters that the server cannot keep",
    "22P05": "a text holds characters that the server cannot keep",
}
"""Errors of the input."""

_ADVICE = {
    "55P03": "another process is writing, or has locked its tables; nothing was changed, try again",
    "53300": "the server has no connection left; close some, or give a smaller pool=N in the URL",
    "57014": "it took longer than it may; nothing was changed, raise wait in the URL, or the "
    "server's statement_timeout",
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
        seconds = str(error).partition("after ")[2] or "its time"
        raise ExternalError(
            f"store {shown}: no connection within {seconds}; "
            "see whether the server runs, or give a larger pool=N in the URL"
        ) from error
    except psycopg.Error as error:
        raise _convert_error(error, shown) from error


def _convert_error(error: Exception, shown: str) -> FoveateError:
    code: str | None = getattr(error, "sqlstate", None)
    diagnosis = getattr(error, "diag", None)
    lines = str(error).splitlines() or [type(error).__name__]
    said = getattr(diagnosis, "message_primary", None) or lines[0].strip()
    if code in _INPUT_ERRORS:
        return BadInput(_INPUT_ERRORS[code])
    if code == "53100":
        return StoreFull(f"store {shown}")
    if code in _ADVICE:
        return ExternalError(f"store {shown}: {_ADVICE[code]} ({said})")
    if code is None or code.startswith(("08", "57P")):
        return ExternalError(
            f"store {shown}: the server is not there, or went away ({said}); what was under way "
            "is undone, try again"
        )
    return ExternalError(f"store {shown}: {said}; nothing was changed")


def pool_options(where: Address, parameters: dict[str, Any]) -> dict[str, Any]:
    """Options of a pool; each connection is checked before use, for a server may be restarted."""
    # What it says of lost connections is for a log where there is one, not for stderr.
    log = logging.getLogger("psycopg.pool")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    size: dict[str, Any] = {"min_size": 1, "max_size": where.pool, "num_workers": 1}
    # Attempts come ever more rarely, for minutes; given up soon, so the next call starts again.
    wait = float(where.wait)
    times = {"timeout": wait, "reconnect_timeout": wait}
    return {"kwargs": parameters, "name": "foveate", **size, **times}
