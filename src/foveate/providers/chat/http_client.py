"""HTTP options and errors that all providers share.

Redirects are refused, only our own key is sent, errors hold no secret, and an answer has a limit.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit

from foveate._version import __version__
from foveate.core.errors import BadOption, ExternalError

MAX_MESSAGE_LENGTH = 300
"""Characters of what the other side says that are repeated."""
RETRY_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""Answers that another attempt may change."""

_HINTS = {
    **dict.fromkeys((301, 302, 303, 307, 308), "it redirects; give the address that it leads to"),
    400: "look at what was asked for",
    401: "check the API key",
    402: "no credit is left; add some with the provider",
    403: "check what the API key may do",
    404: "check the address and the model's name",
    413: "the request is too large; give a smaller --budget",
    429: "too many requests or no quota left; try again later",
    529: "the provider is overloaded; try again later",
}


class ProviderError(Exception):
    """One attempt failed. `again`: another may do better, `after` seconds at the earliest."""

    def __init__(self, why: str, *, again: bool = False, after: float = 0.0) -> None:
        self.why = why
        self.again = again
        self.after = after
        super().__init__(why)


class AttemptInfo:
    """What one attempt learnt: how many seconds it is asked to wait, which secrets were sent."""

    retry_after: float = 0.0
    secrets: tuple[str, ...] = ()


def redact_message(said: object, seen: AttemptInfo) -> str:
    r"""The other side's words on one line: first without secrets, then cut, so that none is left.

    >>> seen = AttemptInfo()
    >>> seen.secrets = ("sk-7f3a91",)
    >>> redact_message("bad key\nsk-7f3a91", seen)
    'bad key ***'
    """
    if isinstance(said, Mapping):
        said = said.get("message", said)
    words = " ".join(str("" if said is None else said).split())
    for secret in seen.secrets:
        words = words.replace(secret, "***")
    return words[:MAX_MESSAGE_LENGTH]


def status_error(status: int, said: object, seen: AttemptInfo) -> ProviderError:
    """The server answered, but not with an answer."""
    hint = _HINTS.get(status, "look at the server's log" if status >= 500 else "see what it says")
    words = redact_message(said, seen)
    detail = f": {words}" if words else ""
    return ProviderError(
        f"answered {status}{detail}; {hint}", again=status in RETRY_STATUSES, after=seen.retry_after
    )


def broken_stream_error(said: object, seen: AttemptInfo) -> ProviderError:
    """An error in the middle of an answer."""
    return ProviderError(f"broke off: {redact_message(said, seen)}", again=True)


def connection_error(error: BaseException, seen: AttemptInfo) -> ProviderError:
    """No connection, or one that broke."""
    inner = error.__cause__ or error
    said = redact_message(str(inner), seen) or type(inner).__name__
    return ProviderError(f"cannot be reached, or broke off ({said}); is the server up?", again=True)


def protocol_error(said: str, seen: AttemptInfo | None = None) -> ProviderError:
    """It answered with something that is not of the protocol."""
    words = redact_message(said, seen or AttemptInfo())
    return ProviderError(f"{words}; is it the right address, and does it speak this protocol?")


def truncated_error() -> ProviderError:
    """The error for a stream that ended before the answer did."""
    return ProviderError(
        "ended before the answer did; is it the right address, and what does its log say?",
        again=True,
    )


def external_error(name: str, where: str, failure: ProviderError, key: str = "") -> ExternalError:
    """The error that the caller sees, the key taken out wherever the other side repeated it."""
    place = f" at {where}" if where else ""
    said = f"model {name}{place}: {failure.why}"
    return ExternalError(said.replace(key, "***") if key else said)


def parse_retry_after(headers: Mapping[str, str]) -> float:
    """What `Retry-After` asks for: seconds, or a date; 0 where it says nothing usable.

    >>> parse_retry_after({"retry-after": "2"}), parse_retry_after({"retry-after-ms": "250"})
    (2.0, 0.25)
    >>> parse_retry_after({"retry-after": "soon"})
    0.0
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers.get(name, "")) * scale)
        except ValueError:
            continue
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time())
    except ValueError:
        return 0.0


MAX_ANSWER_BYTES = 32_000_000
"""Bytes of one answer, framing included."""
OWN_KEY = "FOVEATE_MODEL_KEY"
"""The key for an address in the model's name."""
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


def check_address(url: str, what: str = "the model's address", key: str = OWN_KEY) -> str:
    """The URL without its last slash; raises `BadOption` unless it is http(s) with a host.

    `what`: how errors name it; `key`: where a key goes.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        # What is no address may hold a password at any place.
        said = "is none" if any(sign in url for sign in "@?#") else f"is {url!r}"
        raise BadOption(f"{what} {said}; give http://HOST or https://HOST")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadOption(f"{what} holds more than an address; a key goes in {key}")
    return url.rstrip("/")


def ollama_url() -> str:
    """`OLLAMA_HOST` as Ollama reads it: scheme, host and port may be left out."""
    scheme, mark, place = os.environ.get("OLLAMA_HOST", "").strip().rpartition("://")
    host, colon, port = place.rpartition(":") if not place.endswith("]") else (place, "", "")
    host, port = (host, port) if colon else (place, "" if mark else "11434")
    end = f":{port}" if port else ""
    return check_address(f"{scheme or 'http'}://{host or '127.0.0.1'}{end}")


def read_key(variable: str) -> str:
    """The key that the environment holds; raises `ExternalError` for what no header can carry."""
    return check_key(os.environ.get(variable, ""), variable)


def check_key(key: str, name: str) -> str:
    """The key without spaces around it; raises `ExternalError` for what no header can carry."""
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ExternalError(f"{name} holds characters that a key cannot have; set it again")
    return key


def check_key_set(name: str, variable: str) -> None:
    """Raise `ExternalError` if the provider's key is not set."""
    if not read_key(variable):
        own = "" if variable == OWN_KEY else f", or name a server of your own: {name}@http://HOST"
        raise ExternalError(f"model {name}: no key; set {variable} to yours{own}")


def http_options(
    httpx: Any, *, connect: float, seen: AttemptInfo, headers: Mapping[str, str], own: bool
) -> dict[str, Any]:
    """Options of an async client of `httpx` for one attempt; `headers` hold the key, if any."""

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
        seen.secrets = header_secrets(request.headers)

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
        zipped = protocol_error("sent a compressed answer, which was not asked for")
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


def header_secrets(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Values, and words of values ("Bearer …"), that no error may repeat; the longest first."""
    found: set[str] = set()
    for name, value in headers.items():
        if name.lower() in _CREDENTIALS:
            found.update(value.split()[-1:])
        elif not name.lower().startswith(_PUBLIC_HEADERS):
            found.update(one for one in (value, *value.split()) if len(one) >= _MIN_SECRET_LENGTH)
    return tuple(sorted(found, key=lambda one: (-len(one), one)))
