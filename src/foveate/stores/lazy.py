"""A store that its first write creates, and what may be wrong with one that is to be opened.

So a run without documents leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from foveate.core.errors import BadInput, BadOption, InvalidRequest
from foveate.ports import Store

WRITES = ("put", "batch")
"""What a store is made for; there is nothing to read or delete before."""


class StoreNotFound(BadInput):
    """There is no store at that place, and none was to be made."""


class StoreCreationFailed(Exception):
    """The store cannot be made, for the reason in `why`; not the fault of what was to go in."""

    def __init__(self, why: InvalidRequest) -> None:
        self.why = why
        super().__init__(str(why))


def check_same_embedder(
    store: str, kept: tuple[str, int], given: tuple[str, int], *, new: str
) -> None:
    """Raise `BadOption` where another embedder is given than the store has; empty is none.

    `store`, `new`: the store, and where else one may index, as the message names them.
    """
    if given[0] and given != kept:
        raise BadOption(
            f"{store} holds vectors of {kept[0]!r} ({kept[1]} dimensions), not of {given[0]!r} "
            f"({given[1]}); open it with that embedder, or index into a new {new}"
        )


def refuse_newer(store: str, version: int, known: int, *, new: str) -> None:
    """Raise `BadInput` for a store of a schema that is newer than the one we know."""
    if version > known:
        raise BadInput(
            f"{store} has schema {version}, this version knows up to {known}; update foveate, or "
            f"index the documents into a new {new}"
        )


def refuse_older(store: str, version: int, known: int, *, new: str) -> None:
    """Raise `BadInput` for a store of an older schema."""
    if version < known:
        raise BadInput(
            f"{store} has schema {version} of an older version, this version reads {known}; index "
            f"the documents again, into a new {new}"
        )


class LazyStore:
    """Calls `make` once, at the first write, which raises `StoreCreationFailed` if it fails.

    Until then, reading raises `missing`: an empty context would hide a misspelled path.
    """

    def __init__(self, make: Callable[[], Store], missing: StoreNotFound) -> None:
        self._make = make
        self._missing = missing
        self._store: Store | None = None

    def documents(self) -> Iterator[tuple[str, str]]:
        """None, until one is written."""
        return self._store.documents() if self._store is not None else iter(())

    def state_root(self, *, principals: Iterable[str] | None = None) -> str:
        """Empty where there is no store."""
        return self._store.state_root(principals=principals) if self._store is not None else ""

    def close(self) -> None:
        """Close what was made."""
        if self._store is not None:
            self._store.close()

    def __getattr__(self, name: str) -> Any:
        """Whatever else a store can do."""
        if self._store is None:
            if name not in WRITES:
                raise self._missing
            try:
                self._store = self._make()
            except InvalidRequest as error:
                raise StoreCreationFailed(error) from error
        return getattr(self._store, name)
