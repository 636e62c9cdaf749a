from __future__ import annotations

from dataclasses import replace

import pytest

from foveate.core.errors import BadOption
from foveate.stores.sqlite.store import SqliteStore
from foveate.testing import isolation, stores
from foveate.testing.isolation import OWNER
from foveate.testing.store_corpus import corpus, fill
from foveate.testing.stores import LAWS, Law, check_store

EMBEDDED = pytest.mark.parametrize("new_url", ["sqlite"], indirect=True)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    ("new_url", "seed", "documents"),
    [
        ("sqlite", 0, 16),
        ("sqlite", 7, 16),
        pytest.param("lance", 5, 10, marks=pytest.mark.slow),
        pytest.param("postgresql", 3, 12, marks=pytest.mark.server),
    ],
    indirect=["new_url"],
)
def test_every_store_keeps_every_law(open_empty, law: Law, seed: int, documents: int):
    """T1, T4, D3, X5: the contract of all stores, isolation included."""
    entries = corpus(seed, documents)
    assert len(entries) == documents
    law(open_empty, entries)


def test_every_law_is_in_the_suite():
    """T1: a law that is written is a law that runs."""
    written = {
        name
        for module in (stores, isolation)
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", "") == module.__name__
        and list(getattr(value, "__annotations__", {})) == ["open_empty", "entries", "return"]
    }
    assert written == {law.__name__ for law in LAWS} | {"check_store"}


class Leaky:
    """A store that answers some questions for everyone as for the owner of the secrets."""

    def __init__(self, inner: SqliteStore, leak: str) -> None:
        self._inner = inner
        self._leak = leak

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def neighbours(self, places, window, *, principals=()):  # noqa: D102
        who = (*principals, OWNER) if self._leak == "neighbours" else principals
        return self._inner.neighbours(places, window, principals=who)

    def state_root(self, *, principals=None):  # noqa: D102
        return self._inner.state_root(principals=None if self._leak == "root" else principals)

    def stats(self, *, principals=None):  # noqa: D102
        return self._inner.stats(principals=None if self._leak == "figures" else principals)

    def document(self, name, *, principals=()):  # noqa: D102
        who = (*principals, OWNER) if self._leak == "document" else principals
        return self._inner.document(name, principals=who)

    def search(self, query, vector, *, limit=100, depth=50, principals=(), where=None):  # noqa: D102
        options = {"limit": limit, "depth": depth, "where": where}
        mine = self._inner.search(query, vector, principals=principals, **options)
        if self._leak not in {"matches", "scores", "names"}:
            return mine
        all_ = self._inner.search(query, vector, principals=(*principals, OWNER), **options)
        if self._leak == "matches":
            return replace(mine, lexical_matches=all_.lexical_matches)
        if self._leak == "names" and len(all_.candidates) > len(mine.candidates):
            raise BadOption(f"{all_.candidates[0].id} is not for you")
        scores = {candidate.id: candidate.lexical_score for candidate in all_.candidates}
        known = [replace(c, lexical_score=scores.get(c.id)) for c in mine.candidates]
        return replace(mine, candidates=tuple(known))


@EMBEDDED
@pytest.mark.parametrize(
    "leak", ["neighbours", "root", "figures", "document", "matches", "scores", "names"]
)
def test_the_suite_catches_a_store_that_forgets_principals(open_empty, leak):
    """X5: a store that forgets the reader in one place does not pass the hunt."""
    entries = corpus(count=8)

    def hunt() -> None:
        for law in isolation.LAWS:
            law(lambda: Leaky(open_empty(), leak), entries)

    with pytest.raises((AssertionError, BadOption)):
        hunt()


@EMBEDDED
def test_the_suite_runs_all_its_laws(open_empty):
    """T1, X5: one call checks everything, isolation included."""
    check_store(open_empty, corpus(count=5))
    with pytest.raises(AssertionError):
        check_store(lambda: Leaky(open_empty(), "neighbours"), corpus(count=5))


@EMBEDDED
def test_neighbours_of_many_places_take_no_more_statements(open_empty):
    """S5: fifty places cost as many SQL statements as one, principals included."""
    entries = corpus(count=30)
    with open_empty() as store:
        fill(store, entries)
        places = [(c.document_id, c.sequence) for e in entries for c in e.chunks][:50]
        assert len(places) == 50
        asked: list[list[str]] = []
        for some in (places[:1], places):
            asked.append([])
            store._connection.set_trace_callback(asked[-1].append)
            found = store.neighbours(some, 1, principals=("red",))
            store._connection.set_trace_callback(None)
    assert len(found) > 20
    assert len(asked[0]) == len(asked[1])


@EMBEDDED
def test_neighbours_are_found_through_the_indexes(open_empty):
    """S5: no neighbour search reads a whole table."""
    with open_empty() as store:
        corpus(count=1)[0].put(store)
        statements: list[str] = []
        store._connection.set_trace_callback(statements.append)
        store.neighbours([("d00", 0), ("d01", 3)], 1, principals=("red",))
        store._connection.set_trace_callback(None)
        plan = [
            row[3]
            for statement in statements
            if statement.lstrip().startswith("SELECT")
            for row in store._connection.execute(f"EXPLAIN QUERY PLAN {statement}")
        ]
    assert any("SEARCH c USING INTEGER PRIMARY KEY" in line for line in plan)
    scans = {line for line in plan if line.startswith("SCAN") and "CONSTANT ROW" not in line}
    assert not [line for line in scans if line != "SCAN p" and "json_each" not in line]
