"""The location of a Lance store, and Lance's errors.

Keys come from the environment or from storage options, and are in nothing that is shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from foveate.core.errors import (
    BadInput,
    BadOption,
    ExternalError,
    FoveateError,
    MissingExtra,
    UnknownName,
)
from foveate.stores.checksums import damage

try:
    import lance  # noqa: F401  (the others import it as well; this file comes first)
except ModuleNotFoundError as error:
    if error.name not in {"lance", "pyarrow"}:
        raise
    raise MissingExtra("pylance", "lance") from None

OBJECT_STORES = ("s3", "gs", "az")
"""The object stores that may follow `lance+`, by Lance's names."""

SCHEMES = ("lance", *(f"lance+{name}" for name in OBJECT_STORES))

_SECRET_NAME_PARTS = ("key", "secret", "token", "password", "sas", "credential")
_MIN_SECRET_LENGTH = 4
_URL = re.compile(r"(?P<scheme>[a-z0-9+.-]+)://(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the table lies (`uri`, as Lance names it), and how the store is named to people."""

    uri: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def table_uri(self) -> str:
        """The address of the store's table."""
        return f"{self.uri.rstrip('/')}/store.lance"

    def storage_options(self) -> dict[str, str] | None:
        """The storage options as Lance takes them."""
        return dict(self.options) or None

    def redact(self, text: str) -> str:
        """A text without any key, token or password that reaches this store."""
        for secret in sorted(self._secrets(), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    def _secrets(self) -> set[str]:
        known = [*self.options.items(), *os.environ.items()]
        return {
            value
            for name, value in known
            if len(value) >= _MIN_SECRET_LENGTH
            and any(part in name.lower() for part in _SECRET_NAME_PARTS)
        }


def parse_location(url: str, options: Mapping[str, str] | None = None) -> Location:
    """`lance:PATH` or `lance+s3://BUCKET/PREFIX`; raises `UnknownName` and `BadOption`."""
    scheme, _, rest = url.partition(":")
    scheme = scheme.lower()
    if scheme not in SCHEMES:
        raise UnknownName("store", f"{scheme}:", [f"{name}:" for name in SCHEMES])
    options = dict(options or {})
    if scheme == "lance":
        path = rest.removeprefix("//")
        if not path or "://" in path:
            raise BadOption("store: a folder of Lance is lance:PATH; name one")
        return Location(uri=str(Path(path).absolute()), name=f"lance:{path}", options=options)
    address = f"{scheme.removeprefix('lance+')}:{rest}"
    found = _URL.fullmatch(address)
    if found is None or not found["rest"].strip("/"):
        raise BadOption(f"store: write {scheme}://BUCKET/PREFIX")
    if "@" in found["rest"] or "?" in found["rest"]:
        # Not repeated in the message: what stands before the @ may be a password.
        raise BadOption(
            f"store: {scheme}:// takes BUCKET/PREFIX and nothing else; keys and endpoints come "
            f"from the environment or from storage options"
        )
    return Location(uri=address.rstrip("/"), name=f"lance+{address}".rstrip("/"), options=options)


_LOCATION_MARK = ", /"
"""Lance ends a message with the place in its own source."""


@contextmanager
def convert_engine_errors(place: Location) -> Iterator[None]:
    """Raise Lance's and Arrow's errors as `ExternalError` or `BadInput`, without keys or cause."""
    try:
        yield
    except FoveateError:
        raise
    except UnicodeEncodeError as error:
        raise BadInput(f"a text cannot be stored: {error.reason}") from None
    except OverflowError as error:
        raise BadInput(f"a number is too large for the store: {error}") from None
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        if not isinstance(error, OSError) and not _is_engine_error(error):
            raise
        raise ExternalError(
            f"store {place.name}: {_error_message(place, error)}; {_ADVICE}"
        ) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how Lance ends on bytes that make no sense
            raise
        raise damage("Lance cannot read one of its files") from None


_ADVICE = (
    "what was not acknowledged may be done again; foveate store check says whether it is whole"
)


def _is_engine_error(error: BaseException) -> bool:
    """Whether Lance or Arrow raised it, and not a mistake of our own."""
    return type(error).__module__.startswith(("pyarrow", "lance")) or "/rust/" in str(error)


def _error_message(place: Location, error: BaseException) -> str:
    text = str(error)
    return place.redact(text.split(_LOCATION_MARK, 1)[0] if _LOCATION_MARK in text else text)


_CONFLICTS = ("commit conflict", "too many concurrent writers")


def is_conflict(error: BaseException) -> bool:
    """Whether another writer was faster."""
    return any(said in str(error).lower() for said in _CONFLICTS)
