"""Caches, chosen by URL. The vendor's package is imported when its scheme is asked for."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from foveate.core.errors import BadOption, UnknownName
from foveate.ports import Cache

SCHEMES = ("memory", "redis", "rediss", "unix")
"""What may stand before the colon."""

DEFAULT_MEGABYTES = 64
DEFAULT_HOURS = 24


def open_cache(url: str = "memory:") -> Cache:
    """Open a cache of contexts; the same one may serve many assemblers and threads.

    `memory:` keeps the most recently used in this process, up to 64 MB; `memory:256` up to 256.
    `redis://HOST:PORT/0`, `rediss://…` and `unix:///path/to.sock?db=0` share a Redis between
    replicas; each entry is forgotten 24 hours after it was written, or after `?hours=N`.

    >>> open_cache("memory:8").stats().entries
    0

    Raises `UnknownName` for a scheme, `BadOption` for a size that is none, `MissingExtra`.
    """
    scheme, colon, rest = url.partition(":")
    if scheme not in SCHEMES:
        raise UnknownName("cache", f"{scheme}:", [f"{name}:" for name in SCHEMES])
    if scheme == "memory":
        from foveate.stores.caches.memory import MemoryCache

        return MemoryCache(
            _parse_positive(rest or str(DEFAULT_MEGABYTES), url, "a number of megabytes")
        )
    if not colon:
        example = "/path/to.sock?db=0" if scheme == "unix" else "HOST:PORT/0"
        raise BadOption(f"cache {scheme!r} has no address; give {scheme}://{example}")
    from foveate.stores.caches.redis import RedisCache

    place, _, query = url.partition("?")
    options = parse_qsl(query, keep_blank_values=True)
    hours = [value for name, value in options if name == "hours"] or [str(DEFAULT_HOURS)]
    others = urlencode([option for option in options if option[0] != "hours"])
    life = _parse_positive(hours[-1], url, "a number of hours, hours=N")
    return RedisCache(f"{place}?{others}" if others else place, life)


def _parse_positive(text: str, url: str, wanted: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        scheme = url.partition(":")[0]  # the rest may hold a password
        raise BadOption(f"cache {scheme}: {text!r} is not {wanted}; give 1 or more")
    return int(text)
