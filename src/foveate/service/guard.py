"""The layers around the application and their order, from the outside in:

1. `SecurityHeaders` - headers for browsers, on every response
2. `HeaderLimit` - sizes and repeated headers, so that all layers read the same
3. `HostCheck` - host names and origins, before anything that a foreign page could learn
4. CORS - for origins in the settings; answers their preflights, which have no key
5. `Identify` - finds the caller by its key; refuses no request
6. `RequireKey` - refuses requests without a caller
7. `RateLimit` - requests of one key
8. `ConcurrencyLimit` - requests at once
9. `BodyLimit` - the body, received whole; last, when the caller is known
"""

from __future__ import annotations

import re
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from foveate.core.errors import BadOption
from foveate.service.auth.caller import Identify, RequireKey
from foveate.service.auth.keys import utc_now
from foveate.service.auth.ring import KeyRing
from foveate.service.limits.body import BodyLimit
from foveate.service.limits.headers import (
    HeaderLimit,
    HostCheck,
    SecurityHeaders,
    allowed_hosts,
    is_loopback,
)
from foveate.service.limits.rates import ConcurrencyLimit, RateLimit, parse_rate
from foveate.service.settings import Settings

CORS_REQUEST_HEADERS = (
    "Authorization", "Content-Type", "Last-Event-ID", "MCP-Protocol-Version",
    "MCP-Session-Id", "X-Request-Id",
)  # fmt: skip
CORS_RESPONSE_HEADERS = ("MCP-Session-Id", "Retry-After", "WWW-Authenticate", "X-Request-Id")


def open_key_ring(settings: Settings) -> KeyRing:
    """The keys; raises `BadOption` or `BadInput` where the settings let in more than intended."""
    ring = KeyRing(settings.keys)
    if not ring.in_use and "keys" in settings.model_fields_set:
        raise BadOption(
            f"keys is {str(settings.keys)!r}, and there is no such file; make a key with: "
            f"foveate keys add --scope search --keys {settings.keys}"
        )
    if not is_loopback(settings.host) and not any(key.is_usable(utc_now()) for key in ring.keys):
        raise BadOption(
            f"host is {settings.host}, which others reach too, and there is no key that counts; "
            "listen on 127.0.0.1, or make a key first: foveate keys add --scope search"
        )
    for origin in settings.origins:
        if not re.fullmatch(r"https?://[^/*\s]+", origin):
            raise BadOption(f"origins: {origin!r}: write it as https://app.example.com")
    return ring


def install_layers(app: FastAPI, settings: Settings, ring: KeyRing) -> None:
    """Put the layers around the application, in the order above; the last added is outermost.

    Raises `BadOption` for a rate that cannot be read.
    """
    hosts = allowed_hosts(settings.host, settings.hosts)
    sizes = {
        "most": settings.body_bytes,
        "together": settings.bodies_bytes,
        "seconds": settings.body_seconds,
    }
    inward: list[tuple[Any, dict[str, Any]]] = [
        (SecurityHeaders, {}),
        (HeaderLimit, {"most": settings.header_bytes}),
        (HostCheck, {"names": hosts, "origins": settings.origins}),
        *_cors_layers(settings),
        (Identify, {"ring": ring, "principals": settings.principals}),
        (RequireKey, {}),
        (RateLimit, {"rate": parse_rate(settings.rate)}),
        (ConcurrencyLimit, {"each": settings.key_requests, "all": settings.requests}),
        (BodyLimit, sizes),
    ]
    for layer, options in reversed(inward):
        app.add_middleware(layer, **options)


def _cors_layers(settings: Settings) -> list[tuple[Any, dict[str, Any]]]:
    """CORS for the named origins; never with credentials that a browser adds by itself."""
    if not settings.origins:
        return []
    options = {
        "allow_origins": settings.origins,
        "allow_methods": ("GET", "POST", "PUT", "DELETE"),
        "allow_headers": CORS_REQUEST_HEADERS,
        "expose_headers": CORS_RESPONSE_HEADERS,
    }
    return [(CORSMiddleware, options)]
