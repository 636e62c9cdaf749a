"""What goes wrong between us and a model, and what to do about it: in words, without a key.

Rules: a vendor's error becomes a `ProviderError` at one spot of its adapter; a `ProviderError`
becomes an `ExternalError` when no further attempt is made, outside the `except` block, so that
nothing that holds a request's headers hangs on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time

from foveate.core.errors import ExternalError

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
    told = f": {words}" if words else ""
    return ProviderError(
        f"answered {status}{told}; {hint}", again=status in RETRY_STATUSES, after=seen.retry_after
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
    """The stream ended, and nothing said that the answer did."""
    return ProviderError(
        "ended before the answer did; is it the right address, and what does its log say?",
        again=True,
    )


def external_error(name: str, where: str, trouble: ProviderError, key: str = "") -> ExternalError:
    """The error that the caller sees, the key taken out wherever the other side repeated it."""
    place = f" at {where}" if where else ""
    said = f"model {name}{place}: {trouble.why}"
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
