"""Metadata as JSON: what is hashed of it, and what is written down.

Metadata is the caller's and may hold anything, keys that are no texts included. Whatever it holds
has one spelling, the same before it was written down and after it was read again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from foveate.core.errors import BadInput


def said(metadata: Mapping[str, Any]) -> str:
    """One line for each that is equal, whatever order its keys came in.

    >>> said({"b": 1, "a": None}), said({10: 1, 9: (2,)})
    ('{"a": null, "b": 1}', '{"10": 1, "9": [2]}')
    """
    line = ""
    if all(type(key) is str for key in metadata):
        # Keys within that are no texts are in no order, or in that of numbers.
        with suppress(TypeError, ValueError, RecursionError):
            line = json.dumps(dict(metadata), sort_keys=True, default=str)
    nested = line.count("{") != 1
    return json.dumps(plain(metadata), sort_keys=True) if nested else line


def plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Values that JSON has, and keys that are texts; raises `BadInput` where it holds itself."""
    try:
        try:
            written = json.dumps(dict(metadata), default=str)
        except TypeError:  # a key that JSON has no way to write
            written = json.dumps(_keyed(metadata), default=str)
    except (ValueError, RecursionError):
        raise BadInput(
            "holds itself, or is nested too deep; give plain values", field="metadata"
        ) from None
    found: dict[str, Any] = json.loads(written)
    return found


def _keyed(value: Any) -> Any:
    """The same with keys that JSON can write."""
    if isinstance(value, Mapping):
        plainly = (str, int, float, type(None))  # a bool is an int
        return {k if isinstance(k, plainly) else str(k): _keyed(v) for k, v in value.items()}
    return [_keyed(one) for one in value] if isinstance(value, list | tuple) else value
