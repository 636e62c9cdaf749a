"""Where a list goes on: opaque to the caller, checked when it comes back.

A cursor is not secret and needs no signature: it names a place in what its caller may read, and
is of no use for anything else.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

from foveate.core.errors import BadInput

MAX_LENGTH = 4_096


def encode_cursor(values: Sequence[Any]) -> str:
    """A cursor that holds these values.

    >>> decode_cursor(encode_cursor(["docs/a.md", 3]), str, int)
    ['docs/a.md', 3]
    """
    return urlsafe_b64encode(json.dumps(list(values)).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, *kinds: type) -> list[Any]:
    """Its values, of these types; raises `BadInput`."""
    values = _decode_values(cursor)
    right = isinstance(values, list) and list(map(type, values)) == list(kinds)
    if not right or encode_cursor(values) != cursor:
        raise BadInput("is none of ours; begin again without one", field="cursor")
    return values  # type: ignore[no-any-return]


def _decode_values(cursor: str) -> Any:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        values = json.loads(urlsafe_b64decode(padded.encode("ascii")))
        json.dumps(values, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return values
