"""An API key: who holds it, what it may do, and the hash of what its holder sends.

A key reads `fov_ID_SECRET`. The secret is 32 random bytes, so nobody finds it by trying and a fast
hash (BLAKE3 of the whole key) is as good as a slow one. The id stands in the clear, so that a key
is found without comparing it with all of them, and so that logs can name it.
"""

from __future__ import annotations

import re
import secrets
import string
from dataclasses import dataclass
from datetime import UTC, datetime

from blake3 import blake3

from foveate.core.errors import BadOption

SCOPES = ("assemble", "search", "ask", "check", "replay", "read", "write", "metrics", "mcp")
"""What a key may be for. `write` reaches all documents of the tenant, whoever may read them."""

TENANT = "default"
"""The tenant of a service that has one store."""

ID_LENGTH, SECRET_BYTES, SECRET_LENGTH = 8, 32, 43
KEY_PATTERN = re.compile(
    rf"fov_([0-9a-z]{{{ID_LENGTH}}})_([0-9A-Za-z]{{{SECRET_LENGTH}}})", re.ASCII
)
KEY_PREFIX_PATTERN = re.compile(rb"fov_[0-9a-z]{8}_", re.IGNORECASE)
"""A key, or the beginning of one, where none should be."""

_TENANT_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)
_ID = re.compile(rf"[0-9a-z]{{{ID_LENGTH}}}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LOWER = string.digits + string.ascii_lowercase
_BASE62 = string.digits + string.ascii_letters
_MAX_TEXT_LENGTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is kept of a key; the secret is not.

    `principals` are the most that a caller with it may read as. Times are in UTC, to the second.
    A key that is revoked stays, so that the file still says that keys are in use; its `digest` is
    empty then, which no secret has.
    """

    id: str
    name: str
    tenant: str
    principals: tuple[str, ...]
    scopes: tuple[str, ...]
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    digest: str

    def __post_init__(self) -> None:
        """Refuse what no key can be; raises `BadOption`."""
        _require(_ID.fullmatch(self.id), f"id {self.id!r}: must be 8 digits and lower-case letters")
        check_tenant(self.tenant)
        for what, text in (("name", self.name), *(("principal", p) for p in self.principals)):
            _require(
                _is_line(text),
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
        """Whether it counts at this moment."""
        return self.revoked is None and (self.expires is None or now < self.expires)


def check_tenant(name: str) -> None:
    """Raise `BadOption` where this is no tenant's name; it becomes part of a store's URL."""
    _require(
        _TENANT_NAME.fullmatch(name),
        f"tenant {name!r}: must be 1 to 63 of a-z, 0-9, _ and -, and begin with a letter or digit",
    )


def generate_key(taken: frozenset[str] = frozenset()) -> tuple[str, str]:
    """A new id that is not taken, and the whole key; from the system's source of randomness."""
    made = ""
    while not made or made in taken:
        made = "".join(secrets.choice(_LOWER) for _ in range(ID_LENGTH))
    return made, f"fov_{made}_{_base62(secrets.token_bytes(SECRET_BYTES))}"


def key_digest(token: str) -> str:
    """What is kept of a whole key: 64 hexadecimal digits."""
    return blake3(token.encode("utf-8", "surrogatepass")).hexdigest()


def utc_now() -> datetime:
    """This moment, to the second, as keys write it."""
    return datetime.now(UTC).replace(microsecond=0)


def _base62(data: bytes) -> str:
    """The bytes as one number in digits and letters, always of the same length."""
    number, digits = int.from_bytes(data), []
    for _ in range(SECRET_LENGTH):
        number, digit = divmod(number, 62)
        digits.append(_BASE62[digit])
    return "".join(reversed(digits))


def _is_line(text: str) -> bool:
    return 0 < len(text) <= _MAX_TEXT_LENGTH and text.isprintable() and text == text.strip()


def _require(holds: object, message: str) -> None:
    if not holds:
        raise BadOption(message)
