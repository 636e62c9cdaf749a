"""Requests over HTTP, and the errors and addresses that all providers share.

Redirects are refused, only our own headers are sent, errors hold no key, and an answer has a limit.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit

from foveate._version import __version__
from foveate.core.errors import BadOption, ExternalError, MissingExtra

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
    """One attempt failed. `again`: another may do better, `after` seconds at the earliest.

    `status`: of the answer, 0 if there was none. `said`: the server's own words, with its fields.
    """

    def __init__(
        self,
        why: str,
        *,
        again: bool = False,
        after: float = 0.0,
        status: int = 0,
        said: object = "",
    ) -> None:
        self.why = why
        self.again = again
        self.after = after
        self.status = status
        self.said = said
        super().__init__(why)


def redact_message(said: object, key: str) -> str:
    r"""The other side's words on one line: first without the key, then cut, so that none is left.

    >>> redact_message("bad key\nsk-7f3a91", "sk-7f3a91")
    'bad key ***'
    """
    if isinstance(said, Mapping):
        said = said.get("message", said)
    words = " ".join(str("" if said is None else said).split())
    return (words.replace(key, "***") if key else words)[:MAX_MESSAGE_LENGTH]


def status_error(status: int, said: object, key: str = "", *, after: float = 0.0) -> ProviderError:
    """The server answered, but not with an answer."""
    hint = _HINTS.get(status, "look at the server's log" if status >= 500 else "see what it says")
    words = redact_message(said, key)
    detail = f": {words}" if words else ""
    return ProviderError(
        f"answered {status}{detail}; {hint}",
        again=status in RETRY_STATUSES,
        after=after,
        status=status,
        said=said,
    )


def broken_stream_error(said: object, key: str = "") -> ProviderError:
    """An error in the middle of an answer."""
    return ProviderError(f"broke off: {redact_message(said, key)}", again=True)


def connection_error(error: BaseException, key: str = "") -> ProviderError:
    """No connection, or one that broke."""
    said = redact_message(str(error), key) or type(error).__name__
    return ProviderError(f"cannot be reached, or broke off ({said}); is the server up?", again=True)


def protocol_error(said: str, key: str = "") -> ProviderError:
    """It answered with something that is not of the protocol."""
    words = redact_message(said, key)
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
_ERROR_BYTES = 1 << 16
"""Bytes of an error that are read."""
_KEYS = ("authorization", "x-api-key")
"""Headers that hold a key."""


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


def import_httpx(extra: str) -> Any:
    """The package that speaks HTTP; raises `MissingExtra`."""
    try:
        import httpx2
    except ImportError:
        raise MissingExtra("httpx2", extra) from None
    return httpx2


def is_encrypted(url: str) -> bool:
    """Whether certificates are needed: loading them takes as long as some answers."""
    return url.startswith("https:")


def base_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """All that is sent beside what any request needs: nothing of it comes from the environment."""
    return {
        "accept": "application/json",
        "accept-encoding": "identity",  # an answer's bytes are counted
        "content-type": "application/json",
        "user-agent": f"foveate/{__version__}",
        **headers,
    }


async def post_lines(
    client: Any, url: str, record: Mapping[str, Any], *, key: str
) -> AsyncGenerator[bytes, None]:
    """The lines of the answer as they arrive; raises `ProviderError` unless there is one."""
    import httpx2

    held, size = bytearray(), 0
    try:
        async with client.stream("POST", url, content=json.dumps(record).encode()) as answer:
            body = b"" if answer.status_code == 200 else await _read_error(answer)
            _check_answer(answer.status_code, answer.headers, body, key)
            async for part in answer.aiter_raw():
                size += len(part)
                if size > MAX_ANSWER_BYTES:
                    raise protocol_error(f"sent more than {MAX_ANSWER_BYTES // 1_000_000} MB")
                held += part
                if b"\n" in part:
                    *lines, held = held.split(b"\n")
                    for line in lines:
                        yield bytes(line)
    except (httpx2.RequestError, httpx2.InvalidURL, OSError) as error:
        raise connection_error(error, key) from None
    yield bytes(held)


async def _read_error(answer: Any) -> bytes:
    """What comes of an error, up to so many bytes; it may break off."""
    body = b""
    with suppress(Exception):
        async for part in answer.aiter_raw():
            body += part
            if len(body) >= _ERROR_BYTES:
                break
    return body


def post_json(
    url: str,
    record: Mapping[str, Any],
    *,
    headers: Mapping[str, str],
    timeout: float,
    direct: bool = False,
) -> Any:
    """The JSON that the server answers; raises `ProviderError`. `direct`: to this very machine."""
    httpx2 = import_httpx("models")
    key = next((headers[name].split()[-1] for name in _KEYS if headers.get(name)), "")
    body, status, found = bytearray(), 0, {}
    options = {"timeout": timeout, "trust_env": not direct, "verify": is_encrypted(url)}
    try:
        with (
            httpx2.Client(headers=base_headers(headers), **options) as client,
            client.stream("POST", url, content=json.dumps(record).encode()) as answer,
        ):
            status, found = answer.status_code, answer.headers
            for part in answer.iter_raw():
                body += part
                if len(body) > MAX_ANSWER_BYTES:
                    raise protocol_error(f"sent more than {MAX_ANSWER_BYTES:,} bytes")
    except (httpx2.RequestError, httpx2.InvalidURL, OSError) as error:
        if status in (0, 200):
            raise connection_error(error, key) from None
    _check_answer(status, found, bytes(body), key)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise protocol_error("said no JSON") from None


def _check_answer(status: int, headers: Mapping[str, str], body: bytes, key: str) -> None:
    """Raise for an error, a web page, and what would be unpacked to any size behind the limit."""
    is_packed = headers.get("content-encoding", "identity").lower() != "identity"
    if status != 200:
        said = "" if is_packed else own_words(body)
        raise status_error(status, said, key, after=parse_retry_after(headers))
    if is_packed:
        raise protocol_error("sent a compressed answer, which was not asked for")
    if "html" in headers.get("content-type", ""):
        raise protocol_error("sent a web page")


def own_words(body: bytes) -> object:
    """What the server says of an error: `{"error": {"message": …}}`, or any text."""
    text = body.decode(errors="replace")
    with suppress(ValueError, RecursionError):
        found = json.loads(text)
        return found.get("error", found) if isinstance(found, dict) else found
    return text
