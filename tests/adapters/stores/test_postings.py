from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path

import pytest

from foveate.adapters.stores import open_store
from foveate.adapters.stores.check import check
from foveate.adapters.stores.postings import packed, places_of, unpacked
from foveate.adapters.stores.sqlite import SqliteStore
from foveate.core.errors import BadInput
from foveate.testing.store_corpus import EMBEDDER, changed, corpus

ENTRIES = corpus(count=30)
QUERY = "cold granite lamp"


def opened(folder: Path) -> SqliteStore:
    """An empty store."""
    return open_store(folder, embedder_name=EMBEDDER.name, dimensions=EMBEDDER.dimensions)


def rows(store: SqliteStore) -> int:
    """How many rows the inverted index has."""
    return store._connection.execute("SELECT count(*) FROM postings").fetchone()[0]


def answers(store: SqliteStore) -> object:
    """What a search finds, in the order in which it finds it."""
    return store.search(QUERY, EMBEDDER.embed([QUERY])[0], principals=("red", "blue"))


@pytest.fixture
def plain(tmp_path: Path):
    """A store of all the documents, put one by one."""
    with closing(opened(tmp_path / "plain")) as store:
        for entry in ENTRIES:
            entry.put(store)
        yield store


def test_documents_of_a_batch_share_rows(tmp_path: Path, plain: SqliteStore):
    """T4, T5: fewer rows, the same answers; and each document goes out of them again alone."""
    with closing(opened(tmp_path / "store")) as store:
        with store.batch():
            for entry in ENTRIES:
                entry.put(store)
        assert rows(store) < rows(plain) / 3
        assert answers(store) == answers(plain)
        for entry in ENTRIES[3:20:4]:
            assert store.delete(entry.document.id)
            assert plain.delete(entry.document.id)
            changed(ENTRIES[-1]).put(store)
            changed(ENTRIES[-1]).put(plain)
            assert answers(store) == answers(plain)
        assert check(store.folder).findings == ()
        for entry in ENTRIES:
            store.delete(entry.document.id)
        assert rows(store) == 0


def test_compacting_puts_documents_into_shared_rows(plain: SqliteStore):
    """T4: what went in one by one is read in fewer rows afterwards, and found as before."""
    before, found = rows(plain), answers(plain)
    plain.compact()
    assert rows(plain) < before / 3
    assert answers(plain) == found
    plain.delete(ENTRIES[4].document.id)
    assert check(plain.folder).findings == ()


def test_a_search_inside_a_batch_sees_what_was_put(tmp_path: Path, plain: SqliteStore):
    """T5: what waits in memory is written before anybody reads it."""
    with closing(opened(tmp_path / "store")) as store:
        with store.batch():
            for entry in ENTRIES:
                entry.put(store)
                store.search(entry.chunks[0].text, None)
            assert answers(store) == answers(plain)
        assert answers(store) == answers(plain)
        assert check(store.folder).findings == ()


def test_what_is_undone_inside_a_batch_leaves_no_words(tmp_path: Path):
    """T5: refused documents, documents put twice or deleted, and inner batches that fail."""
    with closing(opened(tmp_path / "store")) as store, closing(opened(tmp_path / "b")) as plain:
        with store.batch():
            ENTRIES[0].put(store)
            with pytest.raises(BadInput):
                store.put(ENTRIES[1].document, ENTRIES[0].chunks, None)
            with suppress(KeyError), store.batch():
                ENTRIES[2].put(store)
                answers(store)
                ENTRIES[3].put(store)
                raise KeyError
            changed(ENTRIES[0]).put(store)
            ENTRIES[4].put(store)
            store.delete(ENTRIES[4].document.id)
            ENTRIES[5].put(store)
        for entry in (changed(ENTRIES[0]), ENTRIES[5]):
            entry.put(plain)
        assert answers(store) == answers(plain)
        assert store.state_root() == plain.state_root()
        assert check(store.folder).findings == ()


def test_a_large_batch_is_written_in_parts(tmp_path: Path, plain: SqliteStore, monkeypatch):
    """T5, X2: memory is bounded; an error at the end still undoes all of it."""
    monkeypatch.setattr("foveate.adapters.stores.postings._WAITING", 50)
    with closing(opened(tmp_path / "store")) as store:
        with suppress(KeyError), store.batch():
            for entry in ENTRIES:
                entry.put(store)
            assert rows(store) > 0
            raise KeyError
        assert rows(store) == 0
        with store.batch():
            for entry in ENTRIES:
                entry.put(store)
        assert answers(store) == answers(plain)
        assert check(store.folder).findings == ()


def test_places_ascend_and_saturate():
    """T4: chunks in order, occurrences up to what 16 bits hold, packed and read back."""
    terms = {7: ["a", "b", "a"], 3: ["b", *["c"] * 70_000]}
    places = places_of(terms)
    assert places == {"a": [7 << 16 | 2], "b": [3 << 16 | 1, 7 << 16 | 1], "c": [3 << 16 | 65_535]}
    assert list(unpacked(packed(places["b"]))) == places["b"]
