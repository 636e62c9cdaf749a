"""The HTTP client under the vendors' clients, the same for all of them.

Rules: a redirect is not followed, for it would carry the key along; an address of one's own gets
the headers that are written here and no other, whatever the vendor's client finds in the
environment, and a provider gets no other key than ours; what was sent as a secret is remembered,
to keep it out of errors; an answer has a size that it cannot exceed; what the server asks us to
wait is remembered.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from foveate._version import __version__
from foveate.core.errors import BadOption, ExternalError
from foveate.providers.chat.provider_error import (
    AttemptInfo,
    parse_retry_after,
    protocol_error,
    status_error,
)

MAX_ANSWER_BYTES = 32_000_000
"""Bytes of one answer, framing included."""
OWN_KEY = "FOVEATE_MODEL_KEY"
"""The key for an address that stands in the model's name."""
_CREDENTIALS = ("authorization", "x-api-key", "api-key")
_PUBLIC_HEADERS = (
    "x-stainless-",
    "accept",
    "content-",
    "anthropic-version",
    "host",
    "connection",
    "user-agent",
)
"""Headers, or how they begin, whose values are no secret."""
_MIN_SECRET_LENGTH = 6
"""Characters that a secret has at the least; less of a header would blot out common words."""


def split_name(rest: str) -> tuple[str, str]:
    """`MODEL@http://HOST/v1` → model and address; raises `BadOption` for an address that is none.

    What stands before a second `@` may be a password: it is not repeated.

    >>> split_name("llama3@http://127.0.0.1:8000/v1/"), split_name("gpt-4o")
    (('llama3', 'http://127.0.0.1:8000/v1'), ('gpt-4o', ''))
    """
    for scheme in ("@http://", "@https://"):
        model, mark, address = rest.partition(scheme)
        if mark:
            return model, check_address(mark[1:] + address)
    model, _, address = rest.partition("@")
    if any(sign in address for sign in "@:/"):
        raise BadOption(f"model {model!r}: its address must begin with http:// or https://")
    return rest, ""


def check_address(url: str) -> str:
    """The URL without its last slash; raises `BadOption` unless it is http(s) with a host."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        # What is no address may hold a password at any place.
        said = "is none" if any(sign in url for sign in "@?#") else f"is {url!r}"
        raise BadOption(f"the model's address {said}; give http://HOST or https://HOST")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadOption(f"the model's address holds more than an address; a key goes in {OWN_KEY}")
    return url.rstrip("/")


def read_key(variable: str) -> str:
    """The key that the environment holds; raises `ExternalError` for what no header can carry."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ExternalError(f"{variable} holds characters that a key cannot have; set it anew")
    return key


def check_key_set(name: str, variable: str) -> None:
    """Raise `ExternalError` where the provider's key is not set: it answers nobody without one."""
    if not read_key(variable):
        own = "" if variable == OWN_KEY else f", or name a server of your own: {name}@http://HOST"
        raise ExternalError(f"model {name}: no key; set {variable} to yours{own}")


def http_options(
    httpx: Any, *, connect: float, seen: AttemptInfo, headers: Mapping[str, str], own: bool
) -> dict[str, Any]:
    """How an async client of the vendor's own `httpx` package is made, one for each attempt.

    `headers`: the key, where there is one, and what the protocol demands. `own`: the address stands
    in the model's name. Time limits other than that of connecting are kept above it.
    """

    class Body(httpx.AsyncByteStream):  # type: ignore[misc]
        """The answer's bytes, up to so many."""

        def __init__(self, stream: Any) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in self._stream:
                size += len(part)
                if size > MAX_ANSWER_BYTES:
                    raise protocol_error(f"sent more than {MAX_ANSWER_BYTES // 1_000_000} MB")
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def sent(request: Any) -> None:
        """Put the headers right; nothing that comes later changes them."""
        if own:
            request.headers = httpx.Headers(_base_headers(request))
        _set_own_headers(request.headers, headers)
        seen.secrets = _secrets(request.headers)

    async def came(response: Any) -> None:
        """Read `Retry-After`; bound the size of what follows, as it is and unpacked."""
        seen.retry_after = parse_retry_after(response.headers)
        _check_response(response, seen)
        response.stream = Body(response.stream)

    return {
        "event_hooks": {"request": [sent], "response": [came]},
        "timeout": httpx.Timeout(None, connect=connect),
        "follow_redirects": False,
    }


def _check_response(response: Any, seen: AttemptInfo) -> None:
    """A web page; and what is compressed, for it would be unpacked to any size behind the bound."""
    found, fine = response.headers, response.status_code == 200
    if found.get("content-encoding", "identity").lower() != "identity":
        zipped = protocol_error("sent a compressed answer, which nobody asked for")
        raise zipped if fine else status_error(response.status_code, "", seen)
    if fine and "html" in found.get("content-type", ""):
        raise protocol_error("sent a web page")


def _base_headers(request: Any) -> dict[str, str]:
    """What any server needs to read a request: nothing of it comes from the environment."""
    return {
        "host": request.url.netloc.decode("ascii"),
        "connection": "keep-alive",
        "accept": "application/json",
        "content-type": "application/json",
        "content-length": str(len(request.content)),
        "user-agent": f"foveate/{__version__}",
    }


def _set_own_headers(found: Any, ours: Mapping[str, str]) -> None:
    """No key but ours, and an answer whose bytes can be counted."""
    for name in _CREDENTIALS:
        found.pop(name, None)
    found.update({**ours, "accept-encoding": "identity"})


def _secrets(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Values, and words of values ("Bearer …"), that no error may repeat; the longest first."""
    found: set[str] = set()
    for name, value in headers.items():
        if name.lower() in _CREDENTIALS:
            found.update(value.split()[-1:])
        elif not name.lower().startswith(_PUBLIC_HEADERS):
            found.update(one for one in (value, *value.split()) if len(one) >= _MIN_SECRET_LENGTH)
    return tuple(sorted(found, key=lambda one: (-len(one), one)))
