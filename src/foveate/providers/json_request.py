"""JSON over HTTP without a client's package: embeddings, counts, and the engine's own port.

A key goes to one address, because redirects are refused; the size of an answer is bounded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPRedirectHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

from foveate.providers.chat.http_client import (
    MAX_ANSWER_BYTES,
    connection_error,
    own_words,
    protocol_error,
    status_error,
)

_KEYS = ("authorization", "x-api-key")
"""Headers that hold a key."""


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse: a redirect would carry the key to wherever the answer points."""


@lru_cache(maxsize=1)
def _direct_opener() -> OpenerDirector:
    """Made once: making it takes as long as a count, and it reads no settings that could change."""
    return build_opener(_NoRedirect, ProxyHandler({}))


def post_json(
    url: str,
    record: Mapping[str, Any],
    *,
    headers: Mapping[str, str] | None = None,
    timeout: float,
    direct: bool = False,
) -> Any:
    """What the server answers; raises `ProviderError`. `direct`: past whatever proxy is set."""
    known = {**(headers or {}), "content-type": "application/json"}
    key = next((known[name].split()[-1] for name in _KEYS if known.get(name)), "")
    request = Request(url, json.dumps(record).encode(), known)  # noqa: S310  # checked
    opener = _direct_opener() if direct else build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=timeout) as answer:
            data = answer.read(MAX_ANSWER_BYTES + 1)
    except HTTPError as error:
        words: object = ""
        with error, suppress(OSError, HTTPException):  # it may break off here
            words = own_words(error.read(1 << 16))
        raise status_error(error.code, words, key) from None
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise connection_error(reason if isinstance(reason, Exception) else error, key) from None
    if len(data) > MAX_ANSWER_BYTES:
        raise protocol_error(f"sent more than {MAX_ANSWER_BYTES:,} bytes")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise protocol_error("said no JSON") from None
