"""A table of names whose values are made when they are first looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TypeVar

T = TypeVar("T")


class LazyTable(Mapping[str, T]):
    """Names in order; `make` gives the value of one."""

    def __init__(self, names: Mapping[str, object], make: Callable[[str], T]) -> None:
        self._names, self._make = names, cache(make)

    def __getitem__(self, name: str) -> T:
        if name not in self._names:
            raise KeyError(name)
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
