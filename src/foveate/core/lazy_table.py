"""A table of names whose values are made when they are first looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


class LazyTable(Mapping[str, T]):
    """Names in order; `factories` gives each its value, which is then kept."""

    def __init__(self, factories: Mapping[str, Callable[[], T]]) -> None:
        self._factories = factories
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name in self._made:
            return self._made[name]
        return self._made.setdefault(
            name, self._factories[name]()
        )  # of two threads, the first counts

    def __contains__(self, name: object) -> bool:
        return name in self._factories

    def __iter__(self) -> Iterator[str]:
        return iter(self._factories)

    def __len__(self) -> int:
        return len(self._factories)


def class_table(package: str, places: Mapping[str, str]) -> LazyTable[Any]:
    """Classes by name, each imported from its `module:Class` in the package at its first use."""
    return LazyTable({name: partial(_load, package, place) for name, place in places.items()})


def _load(package: str, place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"{package}.{module}"), name)
