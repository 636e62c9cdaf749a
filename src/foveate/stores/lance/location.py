"""Where a store lies: a folder or a prefix of an object store, and how it is reached.

Rules: keys and passwords come from the environment or are given as storage options; they never
stand in an URL, and nothing that is shown (`repr`, errors, logs) has them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from foveate.core.errors import BadOption, UnknownName

OBJECT_STORES = ("s3", "gs", "az")
"""What may stand behind `lance+`: the object stores that Lance reaches by these names."""

SCHEMES = ("lance", *(f"lance+{name}" for name in OBJECT_STORES))

_SECRET_NAME_PARTS = ("key", "secret", "token", "password", "sas", "credential")
_MIN_SECRET_LENGTH = 4
_URL = re.compile(r"(?P<scheme>[a-z0-9+.-]+)://(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where the tables lie (`uri`, as Lance names it), and how the store is named to people."""

    uri: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def table_uri(self, name: str) -> str:
        """The address of one of the store's tables."""
        return f"{self.uri.rstrip('/')}/{name}.lance"

    def local_path(self) -> Path | None:
        """The folder, where it is one of this machine."""
        return None if "://" in self.uri else Path(self.uri)

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
