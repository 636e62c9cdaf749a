"""JSON as text in one spelling, for what is counted, hashed and sent again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from foveate.core.errors import BadInput


def compact_json(value: object) -> str:
    """JSON in one spelling, keys as they came; raises `BadInput` for what is none."""
    try:
        text = json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_json_default
        )
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        what = "a lone surrogate" if isinstance(error, UnicodeEncodeError) else str(error)
        raise BadInput(f"holds what JSON cannot hold: {what}", field="messages") from None
    return text


def _json_default(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return list(value)
    raise TypeError(f"{type(value).__name__}")


def unknown_fields_json(value: Mapping[str, Any], *known: str) -> str:
    """What a mapping says under other keys than the known ones, as JSON; empty: nothing."""
    rest = {key: entry for key, entry in value.items() if key not in known}
    return compact_json(rest) if rest else ""
