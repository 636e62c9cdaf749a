"""What the server's texts can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foveate.core.checks import is_encodable
from foveate.core.errors import BadInput


def is_storable(text: str) -> bool:
    """Whether the server's texts can hold it."""
    return "\0" not in text and is_encodable(text)


def check_storable(fields: Mapping[str, Any]) -> None:
    """Raise `BadInput` for a text that the server cannot hold; names the field."""
    for name, value in fields.items():
        if isinstance(value, str) and not is_storable(value):
            raise BadInput(
                "holds a zero character (NUL) or half of a surrogate pair, which PostgreSQL "
                "cannot keep; take it out",
                field=name,
            )
