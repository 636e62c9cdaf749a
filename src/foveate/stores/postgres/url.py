"""A server's URL → what libpq is told, what is ours, and what may be shown. Opens nothing.

Rules: a password is taken out first and handed on by itself, so that no parser's error can repeat
it; of the query, what is known to be no secret is shown, and nothing else. `schema`, `pool`, `wait`
and `exact` in the query are ours; the rest is libpq's (`host`, `sslmode`, `options` …).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from foveate.core.errors import BadOption

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
    """Where a store is. `secrets` never stand in `repr` or in `shown`.

    `wait`: seconds for a free connection of the `pool`, also while the server is away.
    """

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
    """What psycopg is told; raises `BadOption` for what libpq does not know."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        told: dict[str, Any] = conninfo_to_dict(where.conninfo)
    except ProgrammingError:
        # Its message repeats what it does not know, which may be a part of a password.
        raise BadOption(
            f"store {where.display_url!r}: libpq cannot read the URL's query or an escape "
            "in it; its "
            "names are schema, pool, wait and exact, and what PostgreSQL's documentation lists as "
            "connection parameters, in small letters; percent-encode what is special"
        ) from None
    defaults = {"connect_timeout": "10", "fallback_application_name": "foveate"}
    return {**defaults, **told, **where.secrets, "client_encoding": "UTF8"}
