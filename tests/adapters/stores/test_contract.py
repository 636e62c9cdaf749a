from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from foveate.adapters.stores import open_store
from foveate.adapters.stores.sqlite import SqliteStore
from foveate.testing import stores
from foveate.testing.store_corpus import EMBEDDER, corpus
from foveate.testing.stores import LAWS, Law, check_store


@pytest.fixture
def open_empty(tmp_path: Path) -> Callable[[], SqliteStore]:
    """A new, empty embedded store at every call."""
    numbers: Iterator[int] = count()

    def opened() -> SqliteStore:
        folder = tmp_path / f"store{next(numbers)}"
        return open_store(folder, embedder_name=EMBEDDER.name, dimensions=EMBEDDER.dimensions)

    return opened


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("seed", [0, 7])
def test_the_embedded_store_keeps_every_law(
    open_empty: Callable[[], SqliteStore], law: Law, seed: int
):
    """T1, T4, D3, X5: the contract that every store keeps, on two sets of documents."""
    entries = corpus(seed, 16)
    assert len(entries) == 16
    law(open_empty, entries)


def test_every_law_is_in_the_suite():
    """T1: a law that is written is a law that runs."""
    written = {
        name
        for name, value in vars(stores).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", "") == stores.__name__
        and list(getattr(value, "__annotations__", {})) == ["open_empty", "entries", "return"]
    }
    assert written == {law.__name__ for law in LAWS} | {"check_store"}


class Leaky:
    """A store that filters after the search has counted."""

    def __init__(self, inner: SqliteStore) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def neighbours(self, places, window, *, principals=()):  # noqa: D102
        return self._inner.neighbours(places, window, principals=("blue", "red"))


def test_the_suite_catches_a_store_that_forgets_principals(open_empty):
    """X5: a store whose neighbours ignore the reader does not pass."""
    with pytest.raises(AssertionError):
        check_store(lambda: Leaky(open_empty()), corpus(count=6))


def test_neighbours_take_one_statement_for_all_places(open_empty):
    """S5: fifty places cost one SQL statement, principals included."""
    entries = corpus(count=30)
    with open_empty() as store:
        for entry in entries:
            entry.put(store)
        statements: list[str] = []
        store._connection.set_trace_callback(statements.append)
        places = [(c.document_id, c.sequence) for e in entries for c in e.chunks][:50]
        found = store.neighbours(places, 1, principals=("red",))
        store._connection.set_trace_callback(None)
    assert len(places) == 50
    assert len(found) > 20
    assert len(statements) == 1


def test_neighbours_are_found_through_the_indexes(open_empty):
    """S5: no neighbour search reads a whole table."""
    with open_empty() as store:
        corpus(count=1)[0].put(store)
        statements: list[str] = []
        store._connection.set_trace_callback(statements.append)
        store.neighbours([("d00", 0), ("d01", 3)], 1, principals=("red",))
        store._connection.set_trace_callback(None)
        plan = [row[3] for row in store._connection.execute(f"EXPLAIN QUERY PLAN {statements[0]}")]
    assert any("chunks_by_place" in line for line in plan)
    assert not [line for line in plan if line.startswith(("SCAN c", "SCAN d", "SCAN s"))]
