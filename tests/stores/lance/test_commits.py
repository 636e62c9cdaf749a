from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

import lance_writers
from foveate.core.errors import BadInput
from foveate.stores import open_store
from foveate.stores.lance import LanceStore
from foveate.testing.store_corpus import change_entry, corpus, fill
from store_kills import check_same


@pytest.fixture
def store(tmp_path):
    """An empty distributed store in a folder."""
    with closing(LanceStore(f"lance:{tmp_path}/s", **lance_writers.OPTIONS)) as store:
        yield store


def acts(entries, seed, count):
    """Random writes, deletions and batches, each to be done to any store."""
    random = Random(seed)
    for _ in range(count):
        entry = random.choice(entries)
        some = random.sample(entries, 3)
        yield random.choice(
            [
                entry.put,
                change_entry(entry).put,
                lambda store, name=entry.document.id: store.delete(name),
                lambda store, some=some: lance_writers.batch(store, some),
            ]
        )


def test_any_history_with_compaction_holds_what_the_embedded_store_holds(store, tmp_path):
    """T1, T4, D3: deleted rows, joined files and new ones lose nothing and bring nothing back."""
    with closing(open_store(tmp_path / "plain", **lance_writers.OPTIONS)) as plain:
        for number, act in enumerate(acts(corpus(1, 12), 1, 45)):
            act(store)
            act(plain)
            if number % 15 == 9:
                store.compact(keep=timedelta(0))
            if number % 15 == 12:
                check_same(store, plain)
        check_same(store, plain)


def test_small_files_become_few(store):
    """T4: a store that grew document by document does not stay in as many files."""
    fill(store, corpus(count=70))
    assert store.version > 70
    assert len(store._now.dataset.get_fragments()) < 45


def test_a_reader_goes_on_with_its_version_until_it_is_older_than_is_kept(store):
    """T5: compacting takes no file from a version that is young enough to be read."""
    entries = corpus(count=12)
    fill(store, entries)
    assert store.version > 12
    old = store._now
    before = old.content_hashes()
    for entry in entries[:-1]:
        store.delete(entry.document.id)
    store.compact()
    assert old.content_hashes() == before
    store.compact(keep=timedelta(0))
    with pytest.raises((OSError, ValueError), match="Not found"):
        old.read(["text"], "chunk_id IS NOT NULL")
    assert len(list(store.documents())) == 1


def test_an_id_of_a_document_that_stays_is_refused_at_once(store):
    """T5, X1: also inside a batch, where ids of documents that leave are free."""
    entries = corpus(count=6)
    lance_writers.batch(store, list(entries[:4]))
    theirs = replace(entries[5].chunks[0], id=entries[3].chunks[0].id)
    with store.batch():
        fill(store, entries[:3])
        with pytest.raises(BadInput, match="has a chunk .* already"):
            store.put(entries[5].document, [theirs], None)
        store.delete("d03")
        store.put(entries[5].document, [theirs], None)
    assert [name for name, _ in store.documents()] == ["d00", "d01", "d02", "d05"]
    assert store.check().findings == ()


def test_words_are_found_for_whoever_may_read_them_alone(store):
    """X5, T4: readers and filters apply before the leg is cut, with an index of words too."""
    entries = corpus(2, 30)
    lance_writers.batch(store, list(entries))
    store.compact()
    for who in ((), ("red",)):
        found = store.search("cold lamp", None, limit=5, depth=5, principals=who)
        assert len(found.candidates) == found.lexical_matches == 5
        for candidate in found.candidates:
            readers = set(candidate.chunk.principals)
            assert not readers or readers & set(who)
