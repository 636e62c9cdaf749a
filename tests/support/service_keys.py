"""Keys for tests: put into a file, taken away, and sent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from foveate.service.auth.keys import SCOPES, Key, edit_keys, generate_key, key_digest, utc_now


def put(path: Path, **fields: Any) -> str:
    """A new key in the file, with all scopes unless told otherwise; what its holder sends."""
    with edit_keys(path) as held:
        number, token = generate_key()
        made = Key(
            id=number,
            name="test",
            tenant="default",
            principals=(),
            scopes=SCOPES,
            created=utc_now(),
            expires=None,
            revoked=None,
            digest=key_digest(token),
        )
        held.append(replace(made, **fields))
    return token


def take(path: Path, token: str) -> None:
    """Revoke it."""
    with edit_keys(path) as held:
        held[:] = [
            replace(key, revoked=utc_now(), digest="") if key.id == id_of(token) else key
            for key in held
        ]


def id_of(token: str) -> str:
    """The part of a key that may be shown."""
    return token.split("_")[1]


def by(token: str) -> dict[str, str]:
    """The headers of a request with this key."""
    return {"Authorization": f"Bearer {token}"}
