"""The file that keys are kept in: one JSON object a line, whole or refused, changed under a lock.

A file that is damaged is never read in part: which keys would be missing, and what they may do,
nobody could say. A change is written aside, brought to the disk and renamed, so that a reader sees
all of it or none; two changes at once wait for each other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from stat import S_IMODE, S_IWGRP, S_IWOTH
from typing import Any

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.service.auth.keys import Key

KEY_FILE = Path("foveate-keys.jsonl")
"""Where keys are when nobody says where."""

MAX_BYTES = 16 << 20
FIELDS = ("id", "name", "tenant", "principals", "scopes", "created", "expires", "revoked", "blake3")


def read_keys(path: Path) -> tuple[Key, ...]:
    """All keys of the file, in its order; none where there is no file.

    Raises `BadInput` naming the line that is damaged, `ExternalError` where it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return parse_keys(file.read(MAX_BYTES + 1), os.fstat(file.fileno()).st_mode, path.name)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ExternalError(_unreadable_message(path.name, error)) from error


def parse_keys(data: bytes, mode: int, name: str) -> tuple[Key, ...]:
    """The keys that the bytes of a file say; `mode` is the file's, `name` is for messages."""
    if os.name != "nt" and mode & (S_IWGRP | S_IWOTH):
        raise BadInput(
            f"{name}: others than its owner may write to it, and so add keys; run: chmod 600 {name}"
        )
    if len(data) > MAX_BYTES:
        raise BadInput(f"{name}: is over {MAX_BYTES >> 20} MiB; this is no file of keys")
    if data and not data.endswith(b"\n"):
        raise BadInput(f"{name}: the last line is cut off; restore the file, or remove that line")
    keys: dict[str, Key] = {}
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            key = _parse_key(line, keys)
        except BadInput as error:
            damaged = BadInput(f"{name}: line {number} is damaged: {error}; mend or remove it")
            damaged.line = number
            raise damaged from None
        keys[key.id] = key
    return tuple(keys.values())


@contextmanager
def edit_keys(path: Path) -> Iterator[list[Key]]:
    """The keys as a list to change; it is written when the block ends without an error.

    Raises what `read_keys` raises, and `ExternalError` where the file cannot be written.
    """
    real = Path(os.path.realpath(path))
    with _file_lock(real):
        keys = list(read_keys(real))
        yield keys
        try:
            _replace_file(real, b"".join(_encode_line(key) for key in keys))
        except OSError as error:
            raise ExternalError(
                f"{path}: cannot be written: {error.strerror or error}; nothing was changed"
            ) from error


def _parse_key(line: bytes, before: Container[str]) -> Key:
    try:
        record = parse_json(line.decode())
    except UnicodeDecodeError:
        raise BadInput("it is not UTF-8") from None
    if not isinstance(record, dict) or set(record) != set(FIELDS):
        raise BadInput(f"it must be an object with the keys {', '.join(FIELDS)} and no others")
    number = _text_field(record, "id")
    if number in before:
        raise BadInput(f"the id {number!r} comes twice")
    try:
        return Key(
            id=number,
            name=_text_field(record, "name"),
            tenant=_text_field(record, "tenant"),
            principals=_text_list_field(record, "principals"),
            scopes=_text_list_field(record, "scopes"),
            created=_time_field(record, "created"),
            expires=None if record["expires"] is None else _time_field(record, "expires"),
            revoked=None if record["revoked"] is None else _time_field(record, "revoked"),
            digest=_text_field(record, "blake3"),
        )
    except BadOption as error:
        raise BadInput(str(error)) from None


def _text_field(record: dict[str, Any], field: str) -> str:
    value = record[field]
    if not isinstance(value, str):
        raise BadInput("must be a string", field=field)
    return value


def _text_list_field(record: dict[str, Any], field: str) -> tuple[str, ...]:
    value = record[field]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadInput("must be a list of strings", field=field)
    return tuple(value)


def _time_field(record: dict[str, Any], field: str) -> datetime:
    try:
        found = datetime.fromisoformat(_text_field(record, field))
    except ValueError:
        raise BadInput("must be a time like 2027-01-31T00:00:00Z", field=field) from None
    if found.tzinfo is None:
        raise BadInput("must name its time zone, as in 2027-01-31T00:00:00Z", field=field)
    return found.astimezone(UTC)


def key_to_json(key: Key) -> dict[str, Any]:
    """A key as the file holds it."""
    return {
        "id": key.id,
        "name": key.name,
        "tenant": key.tenant,
        "principals": list(key.principals),
        "scopes": list(key.scopes),
        "created": _format_time(key.created),
        "expires": None if key.expires is None else _format_time(key.expires),
        "revoked": None if key.revoked is None else _format_time(key.revoked),
        "blake3": key.digest,
    }


def _encode_line(key: Key) -> bytes:
    return json.dumps(key_to_json(key), ensure_ascii=False).encode() + b"\n"


def _format_time(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    """Nobody else changes the file meanwhile, where the system has such locks."""
    lock = path.with_name(f".{path.name}.lock")
    try:
        number = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ExternalError(
            f"{lock}: cannot be opened: {error.strerror or error}; keys are changed under this lock"
        ) from error
    try:
        with suppress(ImportError):
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def _replace_file(path: Path, data: bytes) -> None:
    """Replace the file; a new one is for its owner alone, an old one keeps whose it is."""
    aside = path.with_name(f".{path.name}.part")
    with suppress(FileNotFoundError):
        aside.unlink()  # of a run that was killed; we hold the lock
    number = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(number, "wb") as file:
        with suppress(FileNotFoundError, PermissionError, AttributeError):
            old = path.stat()
            os.chown(aside, old.st_uid, old.st_gid)
            aside.chmod(S_IMODE(old.st_mode) & 0o770)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk too, where folders can be opened."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _unreadable_message(name: str, error: OSError) -> str:
    return f"{name}: the keys cannot be read: {error.strerror or error}; see who may read the file"
