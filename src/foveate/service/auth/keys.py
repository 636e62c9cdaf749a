"""API keys and the file that holds them.

A key reads `fov_ID_SECRET`. The secret has 256 random bits, so a fast hash (BLAKE3 of the whole
key) is as good as a slow one. The id is in the clear, so that one comparison finds a key and logs
can name it. The file has one JSON object a line and is read whole or refused. A change is made
under a lock and renamed into place.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import string
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from stat import S_IMODE, S_IWGRP, S_IWOTH
from typing import Any

from blake3 import blake3

from foveate.core.candidates import parse_json
from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.core.typed import read_value
from foveate.stores.atomic_write import atomic_write, lock_file

SCOPES = ("assemble", "search", "ask", "check", "replay", "read", "write", "metrics", "mcp")
"""What a key may be for. `write` reaches all documents of the tenant, whoever may read them."""

TENANT = "default"
"""The tenant of a service that has one store."""

ID_LENGTH, SECRET_LENGTH = 8, 43
KEY_PATTERN = re.compile(
    rf"fov_([0-9a-z]{{{ID_LENGTH}}})_([0-9A-Za-z]{{{SECRET_LENGTH}}})", re.ASCII
)
KEY_PREFIX_PATTERN = re.compile(rb"fov_[0-9a-z]{8}_", re.IGNORECASE)
"""The beginning of a key, where none should be."""

TENANT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
_ID = re.compile(rf"[0-9a-z]{{{ID_LENGTH}}}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LOWER = string.digits + string.ascii_lowercase
_BASE62 = string.digits + string.ascii_letters
_MAX_TEXT_LENGTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key without its secret; times are in UTC, to the second.

    `principals` are the most that its caller may read as. A revoked key stays in the file, so that
    keys remain in use; its `digest` is empty, which matches no secret.
    """

    id: str
    name: str
    tenant: str
    principals: tuple[str, ...]
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    digest: str = field(metadata={"key": "blake3"})

    def __post_init__(self) -> None:
        """Check the fields; raises `BadOption`."""
        _require(_ID.fullmatch(self.id), f"id {self.id!r}: must be 8 digits and lower-case letters")
        check_tenant(self.tenant)
        for what, text in (("name", self.name), *(("principal", p) for p in self.principals)):
            is_line = text.isprintable() and text == text.strip()
            _require(
                is_line and 0 < len(text) <= _MAX_TEXT_LENGTH,
                f"{what} {text!r}: must be 1 to {_MAX_TEXT_LENGTH} printable characters",
            )
        strange = next((scope for scope in self.scopes if scope not in SCOPES), None)
        _require(strange is None, f"scope {strange!r}: must be one of {', '.join(SCOPES)}")
        _require(self.scopes, f"no scope given; name at least one of {', '.join(SCOPES)}")
        usable = self.revoked is None
        _require(
            _DIGEST.fullmatch(self.digest) if usable else not self.digest,
            "the hash must be 64 hexadecimal digits, and empty where the key is revoked",
        )

    def is_usable(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked is None and (self.expires is None or now < self.expires)


def check_tenant(name: str) -> None:
    """Raise `BadOption` for an invalid name; it becomes part of a store's URL."""
    _require(
        TENANT_NAME.fullmatch(name),
        f"tenant {name!r}: must be 1 to 63 of a-z, 0-9, _ and -, and begin with a letter or digit",
    )


def generate_key(taken: frozenset[str] = frozenset()) -> tuple[str, str]:
    """A new id that is not taken, and the whole key."""
    made = ""
    while not made or made in taken:
        made = "".join(secrets.choice(_LOWER) for _ in range(ID_LENGTH))
    secret = "".join(secrets.choice(_BASE62) for _ in range(SECRET_LENGTH))
    return made, f"fov_{made}_{secret}"


def key_digest(token: str) -> str:
    """The stored hash of a whole key, 64 hexadecimal digits."""
    return blake3(token.encode("utf-8", "surrogatepass")).hexdigest()


def utc_now() -> datetime:
    """The current time, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def _require(holds: object, message: str) -> None:
    if not holds:
        raise BadOption(message)


KEY_FILE = Path("foveate-keys.jsonl")
"""The default path."""

MAX_BYTES = 16 << 20
FIELDS = tuple(each.metadata.get("key", each.name) for each in fields(Key))


def read_keys(path: Path) -> tuple[Key, ...]:
    """The keys in the file, in its order; none if it does not exist.

    Raises `BadInput` naming the damaged line, `ExternalError` if the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return parse_keys(file.read(MAX_BYTES + 1), os.fstat(file.fileno()).st_mode, path.name)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ExternalError(
            f"{path.name}: the keys cannot be read: {error.strerror or error}; "
            "see who may read the file"
        ) from error


def parse_keys(data: bytes, mode: int, name: str) -> tuple[Key, ...]:
    """The keys in the bytes of a file, with its mode; `name` is for messages."""
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
    """The keys as a list, which is written when the block ends without an error.

    Raises what `read_keys` raises, and `ExternalError` if the file cannot be written.
    """
    real = Path(os.path.realpath(path))
    with _file_lock(real):
        keys = list(read_keys(real))
        yield keys
        try:
            _write_keys(real, keys)
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
    try:
        key: Key = read_value(Key, record, readers={datetime: _parse_time})
    except BadOption as error:
        raise BadInput(str(error)) from None
    if key.id in before:
        raise BadInput(f"the id {key.id!r} comes twice")
    return key


def _parse_time(value: Any) -> datetime:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise BadInput("must be a time like 2027-01-31T00:00:00Z") from None
    if found.tzinfo is None:
        raise BadInput("must name its time zone, as in 2027-01-31T00:00:00Z")
    return found.astimezone(UTC)


def key_to_json(key: Key) -> dict[str, Any]:
    """A key as in the file."""
    values = (_value_to_json(getattr(key, each.name)) for each in fields(key))
    return dict(zip(FIELDS, values, strict=True))


def _value_to_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    return list(value) if isinstance(value, tuple) else value


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    """Hold the lock of the file, if the system has such locks."""
    lock = path.with_name(f".{path.name}.lock")
    try:
        number = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ExternalError(
            f"{lock}: cannot be opened: {error.strerror or error}; keys are changed under this lock"
        ) from error
    try:
        lock_file(number, wait=True)
        yield
    finally:
        os.close(number)


def _write_keys(path: Path, keys: Iterable[Key]) -> None:
    """Replace the file, which keeps its owner and mode; a new one is for its owner alone."""
    with atomic_write(path, private=True) as file:
        with suppress(FileNotFoundError, PermissionError, AttributeError):
            old = path.stat()
            os.fchown(file.fileno(), old.st_uid, old.st_gid)
            os.fchmod(file.fileno(), S_IMODE(old.st_mode) & 0o770)
        for key in keys:
            file.write(f"{json.dumps(key_to_json(key), ensure_ascii=False)}\n".encode())
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Write the new name to the disk, where folders can be opened."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
