"""What is larger than one statement can bind, on SQLite as it comes (32,766 values)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from foveate.core.types import Chunk
from foveate.ports import Document
from foveate.stores import filters, open_store
from foveate.stores.sqlite.store import SqliteStore
from foveate.testing.store_corpus import EMBEDDER, corpus, fill
from store_urls import opened


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """An empty store without vectors whose statements bind what SQLite binds by default."""
    with closing(open_store(tmp_path / "store")) as opened:
        opened._connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)
        yield opened


def test_a_document_may_have_any_number_of_terms(store):
    """T4, X2: forty thousand distinct words in one chunk go in, are found, and go out again."""
    text = " ".join(f"w{number}" for number in range(40_000))
    chunk = Chunk(text=text, document_id="d", source="d")

    store.put(Document(id="d", source="d", text=text), [chunk], None)
    found = store.search("w39999", None)
    by_all = store.search(text, None)

    assert [c.text for c in found.candidates] == [text]
    assert by_all.lexical_matches == 1
    assert store.delete("d")
    assert store._connection.execute("SELECT count(*) FROM postings").fetchone() == (0,)


def test_any_number_of_counts_is_asked_for(store):
    """T6, X2: forty thousand hashes are looked up, and those that are known come back."""
    hashes = [f"h{number}" for number in range(40_000)]
    known = {name: number for number, name in enumerate(hashes) if number % 7}
    store.remember("f", known)

    assert store.counts("f", hashes) == known
    assert store.counts("g", hashes) == {}
    assert store.counts("f", []) == {}


def test_neighbours_of_any_number_of_places(store):
    """S5, X2: twenty thousand places, most of them nowhere, find what a few find."""
    entries = corpus(count=8)
    for entry in entries:
        store.put(entry.document, entry.chunks, None)
    near = [(chunk.document_id, chunk.sequence) for e in entries for chunk in e.chunks]
    far = [(f"none {number}", 0) for number in range(20_000)]

    expected = store.neighbours(near, 1, principals=("red",))

    assert len(expected) > 8
    assert store.neighbours([*far, *near], 1, principals=("red",)) == expected


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_slices_change_no_answer(tmp_path, monkeypatch, most):
    """S5, T4: however few values a statement takes, rows, order and scores are the same."""
    entries = corpus(count=6)
    places = [(chunk.document_id, chunk.sequence) for e in entries for chunk in e.chunks]
    answers = []
    for name in ("whole", "sliced"):
        with closing(fill(opened(tmp_path / name), entries)) as store:
            found = store.search("cold granite lamp", EMBEDDER.embed(["cold"])[0])
            answers.append((found, store.neighbours(places, 1), store.state_root()))
        monkeypatch.setattr(filters, "MAX_BOUND_VALUES", most)

    assert answers[1] == answers[0]
