"""The HTTP client under the vendors' clients, the same for all of them.

Rules: a redirect is not followed, for it would carry the key along; a key that was not meant for
this address is not sent, whatever the vendor's client finds in the environment; an answer has a
size that it cannot exceed; what the server asks us to wait is remembered.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

from foveate.adapters.models.trouble import odd, seconds_after
from foveate.core.errors import BadOption, OutsideFailure

MOST = 32_000_000
"""Bytes of one answer, framing included."""
OWN_KEY = "FOVEATE_MODEL_KEY"
"""The key for an address that stands in the model's name."""
_CREDENTIALS = ("authorization", "x-api-key", "api-key")


def split_name(rest: str) -> tuple[str, str]:
    """`MODEL@http://HOST/v1` → model and address; raises `BadOption` for an address that is none.

    >>> split_name("llama3@http://127.0.0.1:8000/v1/"), split_name("gpt-4o")
    (('llama3', 'http://127.0.0.1:8000/v1'), ('gpt-4o', ''))
    """
    for scheme in ("@http://", "@https://"):
        model, mark, address = rest.partition(scheme)
        if mark:
            return model, check_address(mark[1:] + address)
    return rest, ""


def check_address(url: str) -> str:
    """The URL without its last slash; raises `BadOption` unless it is http(s) with a host."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise BadOption(f"the model's address is {url!r}; give http://HOST or https://HOST")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadOption(f"the model's address holds more than an address; a key goes in {OWN_KEY}")
    return url.rstrip("/")


def key_in(variable: str) -> str:
    """The key that the environment holds; raises `OutsideFailure` for what no header can carry."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise OutsideFailure(f"{variable} holds characters that a key cannot have; set it anew")
    return key


class Seen:
    """What the last answer asked us to wait, in seconds."""

    after: float = 0.0


def http_options(httpx: Any, *, connect: float, seen: Seen, send_key: bool) -> dict[str, Any]:
    """How an async client of the vendor's own `httpx` package is made, one for each attempt.

    Time limits other than that of connecting are kept above it.
    """

    class Body(httpx.AsyncByteStream):  # type: ignore[misc]
        """The answer's bytes, up to so many."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in self._stream:
                size += len(part)
                if size > MOST:
                    raise odd(f"sent more than {MOST // 1_000_000} MB")
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def sent(request: Any) -> None:
        """Leave out keys that are not for this address."""
        for name in () if send_key else _CREDENTIALS:
            request.headers.pop(name, None)
        request.headers["accept-encoding"] = "identity"

    async def came(response: Any) -> None:
        """Read `Retry-After`; bound the size of what follows, which is no web page."""
        seen.after = seconds_after(response.headers)
        if response.status_code == 200 and "html" in response.headers.get("content-type", ""):
            raise odd("sent a web page")
        response.stream = Body(response.stream)

    return {
        "event_hooks": {"request": [sent], "response": [came]},
        "timeout": httpx.Timeout(None, connect=connect),
        "follow_redirects": False,
    }
