"""JSON bytes out: made once, never validated again."""

from __future__ import annotations

from typing import Any

from fastapi.responses import Response


def encode_json(value: Any) -> bytes:
    """The value as UTF-8; NaN, which JSON does not know, is null."""
    import msgspec

    done: bytes = msgspec.json.encode(value, enc_hook=_encode_number)
    return done


def json_response(value: Any) -> Response:
    """The value as an answer."""
    return Response(encode_json(value), media_type="application/json")


def _encode_number(value: Any) -> Any:
    """A numpy number as Python's own."""
    return value.item()
