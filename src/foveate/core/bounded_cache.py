"""A cache bounded in bytes, for values that a process keeps between requests.

A value must follow from its key alone, so that evicting it changes no result.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from itertools import chain
from types import FunctionType, MethodType, NoneType
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

ENTRY = 250
"""Bytes that an entry takes besides its key and value: a place in the dictionary, a pair."""
SHARE = 8
"""An entry takes one part in so many of the limit at most; a larger one pushes out too many."""
_ATOMS = frozenset((str, bytes, int, float, bool, NoneType, FunctionType, MethodType))
_FIXED, _CHANGING = (tuple, frozenset), (list, set)


class BoundedCache(Generic[K, V]):
    """Entries of at most `limit` bytes together; the least recently used ones leave first.

    `size` gives the bytes of a value, and `largest` those that the largest entry may take. A value
    that grows afterwards is put in again.

    Safe for threads. `get` is asked hundreds of times in a request and takes no lock: each of its
    steps is one of the dictionary's own. A thread may be stopped between any two steps; the bytes
    are then counted too high until the cache is empty, never too low.

    >>> texts: BoundedCache[str, str] = BoundedCache(10_000)
    >>> texts.put("a", "short")
    >>> texts.put("b", "long " * 1_000)
    >>> texts.get("a"), texts.get("b")
    ('short', None)
    """

    __slots__ = ("_entries", "_lock", "_size", "bytes", "largest", "limit")

    def __init__(
        self, limit: int, *, size: Callable[[V], int] | None = None, largest: int | None = None
    ) -> None:
        self.limit = limit
        self.largest = limit // SHARE if largest is None else largest
        self.bytes = 0
        self._size = size or size_of
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = allocate_lock()

    def get(self, key: K, default: V | None = None) -> V | None:
        """What is kept under the key."""
        found = self._entries.get(key)
        if found is None:
            return default
        try:  # noqa: SIM105 (`suppress` takes longer than all the rest)
            self._entries.move_to_end(key)
        except KeyError:  # another thread has pushed it out
            pass
        return found[0]

    def put(self, key: K, value: V) -> None:
        """Keep the value, unless it is too large; what was under the key before is gone."""
        taken = self._size(value) + size_of(key) + ENTRY
        with self._lock:
            if key in self._entries:
                self._remove(key)
            if taken > self.largest:
                return
            self.bytes += taken
            self._entries[key] = (value, taken)
            while self.bytes > self.limit and self._entries:
                self.bytes -= self._entries.popitem(last=False)[1][1]
            if not self._entries:
                self.bytes = 0

    def remove(self, key: K) -> None:
        """Forget what is kept under the key, if anything is."""
        with self._lock:
            self._remove(key)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
            self.bytes = 0

    def items(self) -> list[tuple[K, V]]:
        """What is kept now, the least recently used first."""
        with self._lock:
            return [(key, value) for key, (value, _) in list(self._entries.items())]

    def __len__(self) -> int:
        return len(self._entries)

    def _remove(self, key: K) -> None:
        found = self._entries.pop(key, None)
        if found is not None:
            self.bytes -= found[1]


def size_of(value: Any) -> int:
    """Bytes of a value with all that it is made of.

    Containers, arrays and objects with slots are looked into. What stands in several places counts
    in each, but for strings and numbers that one tuple or set repeats.

    >>> size_of(("a" * 1_000,) * 3) < 1_500 < size_of(["a" * 1_000] * 3)
    True
    """
    if type(value) in _ATOMS:
        return sys.getsizeof(value)
    total, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        total += sys.getsizeof(one)
        if isinstance(one, _FIXED):
            if _ATOMS.issuperset(map(type, one)):
                total += sum(map(sys.getsizeof, set(one)))
                continue
            parts: Iterable[Any] = one
        elif isinstance(one, dict):
            parts = chain(*one.copy().items())
        elif isinstance(one, _CHANGING):
            parts = one
        elif getattr(one, "base", None) is not None:  # an array that shows another one's numbers
            total += one.nbytes
            continue
        else:
            parts = [getattr(one, name) for name in getattr(type(one), "__slots__", ())]
        for part in parts:
            if type(part) in _ATOMS:
                total += sys.getsizeof(part)
            else:
                waiting.append(part)
    return total
