from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from threading import Event

import psycopg
import pytest

from foveate.stores import open_store
from foveate.stores.postgres import contents
from foveate.stores.postgres.connect import connection_settings, parse_url
from foveate.stores.postgres.postings import MERGE, PLACE_BYTES, ROW_BYTES, PostingsCache
from foveate.testing.store_corpus import change_entry, corpus, fill
from store_urls import opened

EVERYONE = ("blue", "red")
ENTRIES = corpus(count=14)


def answers(store) -> list[object]:
    """What searches find, who reads what, and the state."""
    asked = ("granite lamp", "cold", "where does the river turn")
    found = [store.search(q, None, principals=who) for q in asked for who in ((), EVERYONE)]
    return [*found, store.state_root(), store.state_root(principals=("red",))]


def row_count(url: str) -> int:
    """Rows of postings."""
    with psycopg.connect(**connection_settings(parse_url(url))) as connection:
        query = f'SELECT count(*) FROM "{parse_url(url).schema}".postings'
        (found,) = connection.execute(query).fetchone()
        return found


@pytest.mark.parametrize("places", [30, ROW_BYTES // PLACE_BYTES])
def test_merged_postings_lose_and_gain_documents(
    new_schema: Callable[[], str], monkeypatch, places: int
):
    """T4, T5, D3: rows of several documents answer as rows of one, whatever leaves or comes."""
    monkeypatch.setattr(contents, "MERGE", MERGE.replace(str(ROW_BYTES), str(places * PLACE_BYTES)))
    url, plain = new_schema(), new_schema()
    with closing(opened(url)) as store, closing(opened(plain)) as other:
        for each in (store, other):
            fill(each, ENTRIES)
        before = row_count(url)
        store.compact()
        assert row_count(url) < before
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
        assert row_count(url) == 0
        assert store.check().findings == ()


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
                reader._context = replace(reader._context, cache=PostingsCache())
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
