from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest

from foveate.stores import open_store
from foveate.stores.sql import postings
from foveate.testing.store_corpus import corpus, fill
from store_urls import opened

EVERYONE = ("blue", "red")
SQL = pytest.mark.parametrize(
    "new_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.server)], indirect=True
)


@SQL
def test_words_of_a_question_are_read_once_in_a_state(new_url: Callable[[], str], monkeypatch):
    """T4, X5: the second time they come from memory; for another reader, or after a write, not."""
    first, second, third = corpus(count=3)
    asked: list[list[str]] = []
    read = postings._read

    def noted(database, audiences, terms):
        asked.append(list(terms))
        return read(database, audiences, terms)

    monkeypatch.setattr(postings, "_read", noted)
    url = new_url()
    with closing(open_store(url)) as store, closing(open_store(url)) as other:
        store.put(first.document, first.chunks, None)
        store.put(second.document, second.chunks, None)
        found = [store.search("cold granite", None, principals=EVERYONE) for _ in range(3)]
        assert found[0] == found[1] == found[2]
        assert asked == [["cold", "granite"]]
        store.search("granite lamp", None, principals=EVERYONE)
        store.search("granite", None, principals=())
        assert asked[1:] == [["lamp"], ["granite"]]
        other.put(third.document, third.chunks, None)
        other.delete(first.document.id)
        other.put(first.document, first.chunks, None)
        mine = store.search("cold granite", None, principals=EVERYONE)
        assert mine == other.search("cold granite", None, principals=EVERYONE)
        assert asked[3:] == [["cold", "granite"]] * 2


@SQL
def test_words_that_were_not_asked_for_longest_are_forgotten(new_url: Callable[[], str]):
    """T4, X6: what is kept is bounded, and forgetting changes no answer."""
    queries = ["amber cold", "river stone lamp", "amber", "quarry", "amber cold"]
    with closing(fill(opened(new_url()), corpus(count=20))) as store:
        expected = [store.search(query, None, principals=EVERYONE) for query in queries]
        with store._read_transaction() as database:
            cache = database.cache
        cache.clear()
        cache.limit = cache.largest = 4_000
        for query, found in zip(queries, expected, strict=True):
            assert store.search(query, None, principals=EVERYONE) == found
            assert cache.bytes <= 4_000
        assert 0 < len(cache) < 6
