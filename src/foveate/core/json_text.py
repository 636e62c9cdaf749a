"""JSON as text in one spelling, for what is counted, hashed and sent again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from foveate.core.errors import BadInput


def compact_json(value: object) -> str:
    """JSON in one spelling, keys as they came; raises `BadInput` for what is none."""
    return _dump(value, (",", ":"))


def spaced_json(value: object) -> str:
    """The same with a space behind each comma and colon, as a model writes it."""
    return _dump(value, (", ", ": "))


def _dump(value: object, separators: tuple[str, str]) -> str:
    try:
        text = json.dumps(
            value,
            ensure_ascii=False,
            separators=separators,
            allow_nan=False,
            default=_json_default,
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
    """What a mapping says under other keys than the known ones, as JSON; empty: nothing.

    A cache breakpoint says nothing: a caller moves it from call to call.
    """
    rest = {k: entry for k, entry in value.items() if k not in known and k != "cache_control"}
    return compact_json(rest) if rest else ""


def join_lines(*texts: str) -> str:
    """Those that say something, a line each."""
    return "\n".join(filter(None, texts))
