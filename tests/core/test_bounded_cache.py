"""A cache that is bounded in bytes."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from foveate.core.bounded_cache import ENTRY, SHARE, BoundedCache, size_of
from foveate.core.text.profile import Profile, holding_profiles, text_profile


def test_the_least_recently_used_leaves_first() -> None:
    """X6: as many entries as have room; those that were not asked for longest make it."""
    kept: BoundedCache[int, bytes] = BoundedCache(20_000)
    for number in range(100):
        kept.put(number, bytes(1_000))
        assert kept.get(0) is not None

    numbers = [number for number, _ in kept.items()]
    assert numbers == [*range(101 - len(kept), 100), 0]
    assert kept.bytes <= kept.limit < kept.bytes + 1_000 + 2 * ENTRY


def test_a_value_that_is_too_large_is_not_kept() -> None:
    """X6: it would push out all the rest; what was under its key before is gone, too."""
    kept: BoundedCache[str, bytes] = BoundedCache(20_000)
    kept.put("other", b"stays")
    kept.put("grown", bytes(10))
    kept.put("grown", bytes(20_000 // SHARE))

    assert [key for key, _ in kept.items()] == ["other"]
    assert kept.get("grown") is None
    assert kept.get("grown", b"made again") == b"made again"


def test_the_bytes_are_those_of_what_is_there() -> None:
    """X6: put in again, removed and cleared: the sum stays right."""
    kept: BoundedCache[str, str] = BoundedCache(1_000_000)
    kept.put("a", "x")
    once = kept.bytes
    kept.put("a", "y")
    assert kept.bytes == once
    kept.put("b", "x" * 5_000)
    kept.remove("b")
    kept.remove("never there")
    assert kept.bytes == once
    kept.clear()
    assert (kept.bytes, len(kept)) == (0, 0)


def test_threads_share_it() -> None:
    """X6: eight threads neither fail nor lose count of the bytes."""
    kept: BoundedCache[int, bytes] = BoundedCache(50_000)

    def work(start: int) -> None:
        for number in range(3_000):
            kept.put((start * 7 + number) % 200, bytes(number % 900))
            kept.get(number % 200)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))

    there = [len(value) for _, value in kept.items()]
    assert kept.bytes <= kept.limit
    assert sum(there) < kept.bytes < sum(there) + len(there) * 2 * ENTRY


def test_an_interruption_costs_room_for_a_while_and_never_the_bound() -> None:
    """X6: after a thread was stopped within `put`, the cache empties once and counts right."""
    kept: BoundedCache[int, bytes] = BoundedCache(20_000)
    kept.put(1, bytes(100))
    kept.bytes += kept.limit  # as if entries had gone whose bytes were not taken off
    kept.put(2, bytes(100))
    kept.put(3, bytes(100))

    assert [key for key, _ in kept.items()] == [3]
    assert kept.bytes < 2 * ENTRY


@pytest.mark.parametrize(
    ("value", "least"),
    [
        ("x" * 1_000, 1_000),
        (["x" * 1_000, "y" * 1_000], 2_000),
        ({"k" * 500: ("x" * 500, b"y" * 500)}, 1_500),
        (np.zeros(1_000), 8_000),
        (np.zeros(1_000)[:500], 4_000),
        (Profile(shapes=("x" * 3_000,)), 3_000),
        (frozenset({"x" * 900, "y" * 900}), 1_800),
    ],
)
def test_a_size_is_that_of_all_parts(value: object, least: int) -> None:
    """X6: what stands in containers, arrays and slots counts."""
    assert least < size_of(value) < least + 2_000
    assert size_of(value) >= sys.getsizeof(value)


def test_a_request_keeps_its_profiles_until_it_ends() -> None:
    """X6: a text is looked at once in a request, and nothing of it outlives that."""

    @holding_profiles
    def request() -> bool:
        text_profile("a" * 32).shapes = ()
        return text_profile("a" * 32).shapes is not None

    assert holding_profiles(request)()
    assert text_profile("a" * 32).shapes is None
