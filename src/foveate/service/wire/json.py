"""JSON bytes out: made once, never validated again."""

from __future__ import annotations

from typing import Any

from fastapi.responses import Response


def as_bytes(value: Any) -> bytes:
    """The value as UTF-8; NaN, which JSON does not know, is null."""
    import msgspec

    done: bytes = msgspec.json.encode(value, enc_hook=_plain)
    return done


def sent(body: bytes, status: int = 200) -> Response:
    """Bytes that are JSON already."""
    return Response(body, status, media_type="application/json")


def answer(value: Any, status: int = 200) -> Response:
    """The value as an answer."""
    return sent(as_bytes(value), status)


def _plain(value: Any) -> Any:
    """A number of numpy's as Python's own."""
    return value.item()
