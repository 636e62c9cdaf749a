from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event

import pytest

from foveate.core.errors import BadOption
from foveate.stores import open_store
from foveate.stores.sql import postings
from foveate.testing.store_corpus import change_entry, corpus, fill
from store_urls import opened

EVERYONE = ("blue", "red")
ENTRIES = corpus(count=14)


def answers(store) -> list[object]:
    """What searches find, who reads what, and the state."""
    asked = ("granite lamp", "cold", "where does the river turn")
    found = [store.search(q, None, principals=who) for q in asked for who in ((), EVERYONE)]
    return [*found, store.state_root(), store.state_root(principals=("red",))]


def row_count(store) -> int:
    """Rows of postings."""
    with store._read_transaction() as database:
        ((found,),) = database.rows("SELECT count(*) FROM {s}.postings")
        return found


SQL = pytest.mark.parametrize(
    "new_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.server)], indirect=True
)


@SQL
@pytest.mark.parametrize("places", [30, postings.PLACES_PER_ROW])
def test_merged_postings_lose_and_gain_documents(
    new_url: Callable[[], str], monkeypatch, places: int
):
    """T4, T5, D3: rows of several documents answer as rows of one, whatever leaves or comes."""
    monkeypatch.setattr(postings, "PLACES_PER_ROW", places)
    with closing(opened(new_url())) as store, closing(opened(new_url())) as other:
        for each in (store, other):
            fill(each, ENTRIES)
        before = row_count(store)
        store.compact()
        assert row_count(store) < before
        assert answers(store) == answers(other)
        for step in range(3):
            for each in (store, other):
                assert each.delete(ENTRIES[step].document.id)
                change_entry(ENTRIES[step + 4]).put(each)
                ENTRIES[step + 8].put(each)
            assert answers(store) == answers(other)
            assert store.check().findings == ()
            store.compact()
            assert store.check().findings == ()
            assert answers(store) == answers(other)
        for entry in ENTRIES:
            store.delete(entry.document.id)
        store.compact()
        assert row_count(store) == 0
        assert store.check().findings == ()


@SQL
def test_compacting_gives_room_back_and_changes_no_answer(new_url: Callable[[], str]):
    """T5, D3, B7, X5: readers and counts of what is gone go; answers, root and used counts stay."""
    with closing(fill(opened(new_url()), ENTRIES)) as store, closing(opened(new_url())) as plain:
        for entry in ENTRIES:
            if entry.document.id != "d04":
                assert store.delete(entry.document.id)
        ENTRIES[4].put(plain)
        expected, before = answers(store), store.stats().bytes
        store.remember("f", {"unknown": 1})

        store.compact()

        after = store.stats().bytes
        if "free" in after:  # a server's tables keep what few rows have no use for
            assert sum(after.values()) < sum(before.values())
            assert after["free"] == 0
        assert answers(store) == expected == answers(plain)
        kept, gone = (ENTRIES[n].chunks[0].content_hash for n in (4, 7))
        assert store.counts("f1", [kept, gone]) == {kept: 7}
        assert store.counts("f", ["unknown"]) == {}
        with store._read_transaction() as database:
            assert database.rows("SELECT principals FROM {s}.audiences") == [("[]",)]
            assert database.rows("SELECT count(*) FROM {s}.members") == [(0,)]
        fill(store, ENTRIES)
        fill(plain, ENTRIES)
        assert answers(store) == answers(plain)
        assert store.check().findings == ()


def test_a_batch_is_not_compacted(new_schema: Callable[[], str]):
    """X1: VACUUM runs outside of any transaction, and the error says so."""
    with (
        closing(open_store(new_schema())) as store,
        store.batch(),
        pytest.raises(BadOption, match="not inside a batch"),
    ):
        store.compact()


def test_who_searches_while_postings_are_merged_sees_no_change(new_schema: Callable[[], str]):
    """T4, T5: answers are the same before, meanwhile and afterwards; none is an error."""
    url = new_schema()
    with closing(opened(url)) as store, closing(open_store(url)) as reader:
        fill(store, ENTRIES)
        expected = answers(reader)
        over = Event()

        def read() -> int:
            times = 0
            while not over.is_set():
                reader._context.cache.clear()
                assert answers(reader) == expected
                times += 1
            return times

        with ThreadPoolExecutor(1) as threads:
            reading = threads.submit(read)
            for entry in ENTRIES[:3]:
                entry.put(store)  # the same again: rows of its own, which are merged anew
                store.compact()
            over.set()
            assert reading.result() > 1
