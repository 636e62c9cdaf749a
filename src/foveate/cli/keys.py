"""`foveate keys`: the API keys of a service. A key is shown once, when it is made."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foveate.cli import output
from foveate.cli.options import Json, argument, option
from foveate.core.errors import BadOption

if TYPE_CHECKING:
    from foveate.service.auth.keys import Key


def parse_expiry(text: str, now: datetime) -> datetime:
    """The moment, in UTC; a time without a zone is in UTC, a date is its first second.

    Raises `BadOption` where it is no such thing, or has passed.

    >>> print(parse_expiry("90d", datetime(2027, 1, 1, tzinfo=UTC)))
    2027-04-01 00:00:00+00:00
    >>> print(parse_expiry("2027-01-31", datetime(2027, 1, 1, tzinfo=UTC)))
    2027-01-31 00:00:00+00:00
    """
    days = re.fullmatch(r"(\d{1,5})d", text, re.ASCII)
    try:
        ends = now + timedelta(days=int(days[1])) if days else datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise BadOption(
            f"--expires {text!r}: give a number of days (90d) or a time (2027-01-31)"
        ) from None
    ends = (ends if ends.tzinfo else ends.replace(tzinfo=UTC)).astimezone(UTC)
    if ends <= now:
        raise BadOption(f"--expires {text!r}: has passed; give a time to come")
    return ends.replace(microsecond=0)


app = typer.Typer(
    help="Create, list and revoke the API keys of a service. A key is shown once.",
    rich_markup_mode=None,
)
KeyFile = Annotated[
    Path | None,
    option("FILE", "File of keys (default: foveate-keys.jsonl).", envvar="FOVEATE_SERVE_KEYS"),
]
SettingsFile = Annotated[Path | None, option("FILE", "The service's TOML file, which names it.")]


@app.command()
def add(  # noqa: PLR0917  # typer reads the options from the signature
    scope: Annotated[
        list[str] | None,
        option(
            "S",
            "What it may do; once for each: assemble, search, ask, check, replay, read, "
            "write, metrics, mcp.",
        ),
    ] = None,
    tenant: Annotated[str, option("T", "Whose documents it is for.")] = "default",
    principal: Annotated[
        list[str] | None, option("P", "Whom it may read as at most; once for each.")
    ] = None,
    name: Annotated[str, option("N", "What you call it.")] = "unnamed",
    expires: Annotated[
        str | None, option("WHEN", "A number of days (90d), or a time [never].")
    ] = None,
    keys: KeyFile = None,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Make a key and print it, once; what is kept of it is a hash.

    A running service takes it with the next request.
    """
    from foveate.service.auth.keys import SCOPES, Key, edit_keys, generate_key, key_digest, utc_now

    if not scope:
        listed = ", ".join(SCOPES)
        raise typer.BadParameter(f"no scope given; add --scope S, once for each: {listed}")
    place = _find_key_file(keys, settings, tenant)
    created = utc_now()
    ends = None if expires is None else parse_expiry(expires, created)
    with edit_keys(place) as keys_in_file:
        number, token = generate_key(frozenset(key.id for key in keys_in_file))
        made = Key(
            id=number,
            name=name,
            tenant=tenant,
            principals=tuple(sorted(set(principal or ()))),
            scopes=tuple(sorted(set(scope or ()))),
            created=created,
            expires=ends,
            revoked=None,
            digest=key_digest(token),
        )
        keys_in_file.append(made)
    output.write_result({"key": token, **_key_to_json(made)}, [token], as_json=as_json)


@app.command("list")
def list_keys(keys: KeyFile = None, settings: SettingsFile = None, as_json: Json = False) -> None:
    """The keys by id: whose they are, what they may do, until when. Never the keys themselves."""
    from foveate.cli.layout import format_columns
    from foveate.service.auth.keys import read_keys, utc_now

    place = _find_key_file(keys, settings)
    keys_in_file = read_keys(place)
    if not keys_in_file and not as_json:
        output.write_note(f"no keys in {place}; `foveate keys add` makes one")
    moment = utc_now()
    pairs = [(key.id, _key_line(key, moment)) for key in keys_in_file]
    record = {"keys": [_key_to_json(key) for key in keys_in_file]}
    lines = format_columns(pairs, output.terminal_width(), indent="")
    output.write_result(record, lines, as_json=as_json)


@app.command()
def revoke(
    ids: Annotated[list[str], argument("ID...", "The ids, as list shows them.")],
    keys: KeyFile = None,
    settings: SettingsFile = None,
    as_json: Json = False,
) -> None:
    """Take keys away. A running service refuses them from the next request on.

    They stay in the list as revoked. Nothing is changed where one of the ids is unknown.
    """
    from dataclasses import replace

    from foveate.core.errors import UnknownName
    from foveate.service.auth.keys import edit_keys, utc_now

    moment = utc_now()
    with edit_keys(_find_key_file(keys, settings)) as keys_in_file:
        places = {key.id: place for place, key in enumerate(keys_in_file)}
        unknown = next((name for name in ids if name not in places), None)
        if unknown is not None:
            raise UnknownName("key", unknown, places)
        for place in (places[name] for name in ids):
            if keys_in_file[place].revoked is None:
                keys_in_file[place] = replace(keys_in_file[place], revoked=moment, digest="")
        gone = [keys_in_file[places[name]] for name in dict.fromkeys(ids)]
    record = {"keys": [_key_to_json(key) for key in gone]}
    output.write_result(record, [f"{key.id} revoked" for key in gone], as_json=as_json)


def _find_key_file(keys: Path | None, settings: Path | None, tenant: str = "default") -> Path:
    """The file of keys; raises `BadOption` for a tenant without a store."""
    import os

    from foveate.service.auth.keys import KEY_FILE

    store = os.environ.get("FOVEATE_SERVE_STORE")
    place = keys or KEY_FILE
    if settings is not None:
        from foveate.service.settings import load_settings

        found = load_settings(settings, **({} if keys is None else {"keys": keys}))
        store, place = found.store, found.keys
    if tenant != "default" and store is not None and "{tenant}" not in store:
        raise BadOption(
            f"tenant {tenant!r}: the service has one store, which is that of the tenant 'default'; "
            "put {tenant} into its setting store"
        )
    return place


def _key_to_json(key: Key) -> dict[str, Any]:
    """A key without its hash."""
    from foveate.service.auth.keys import key_to_json

    return {name: value for name, value in key_to_json(key).items() if name != "blake3"}


def _key_line(key: Key, moment: datetime) -> str:
    shown = _key_to_json(key)
    readers = ", ".join(key.principals) or "no principal"
    if key.revoked is not None:
        state = f"revoked {shown['revoked']}"
    elif key.expires is None:
        state = "does not expire"
    else:
        state = f"{'expires' if key.is_usable(moment) else 'expired'} {shown['expires']}"
    return (
        f"{key.name}: tenant {key.tenant}; reads as {readers}; may {', '.join(key.scopes)}; "
        f"made {shown['created']}, {state}"
    )
