"""One JSON request over HTTP, for the embedders that ask a server. Not a client library.

Rules: a key goes into one header and nowhere else, never into an error or a redirect (redirects
are refused); an answer is checked before it is used; every failure is an `ExternalError`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from foveate.core.errors import BadOption, ExternalError


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would carry the key to wherever the answer points."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def check_url(url: str) -> str:
    """The URL without its last slash; raises `BadOption` unless it is http(s) with a host."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadOption(f"base_url is {url!r}; give http://HOST or https://HOST")
    if parts.username or parts.password:
        raise BadOption("base_url holds a user name or a password; give the key as api_key")
    return url.rstrip("/")


def post_json(url: str, payload: Mapping[str, Any], *, key: str = "", timeout: float = 60.0) -> Any:
    """Send JSON, get JSON; `key` as a bearer token; raises `ExternalError`."""
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = Request(url, data=json.dumps(payload).encode(), headers=headers)  # noqa: S310 - checked
    try:
        with build_opener(_NoRedirect).open(request, timeout=timeout) as answer:
            return json.load(answer)
    except HTTPError as error:
        with error:
            hint = _HINTS.get(error.code, "look at the server's log")
        raise ExternalError(f"{url} answered {error.code}; {hint}") from None
    except (URLError, OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise ExternalError(f"{url} cannot be reached: {reason}; is the server up?") from None
    except ValueError:
        raise ExternalError(f"{url} did not answer with JSON; is it the right address?") from None


_HINTS = {
    401: "check the API key",
    403: "check what the API key may do",
    404: "check the address and the model's name",
    429: "too many requests or no quota left; try again later",
}


def unit_rows(vectors: Any, *, expected: int, whose: str) -> Any:
    """The answer's vectors as float32 rows of length 1; raises `ExternalError`."""
    import numpy as np

    try:
        rows = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ExternalError(f"{whose}: the answer's vectors are not rows of numbers") from None
    if rows.ndim != 2 or len(rows) != expected or not rows.shape[1]:
        raise ExternalError(f"{whose}: shape {rows.shape} came for {expected} texts")
    if not np.isfinite(rows).all():
        raise ExternalError(f"{whose}: a vector holds a number that is not finite")
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def batches(texts: Sequence[str], size: int) -> list[list[str]]:
    """The texts in runs of at most `size`.

    >>> batches(["a", "b", "c"], 2)
    [['a', 'b'], ['c']]
    """
    return [list(texts[i : i + size]) for i in range(0, len(texts), size)]
