from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest

from foveate.stores import open_store
from foveate.stores.postgres import contents
from foveate.stores.postgres.connect import connection_settings, parse_url
from foveate.stores.postgres.postings import MERGE, PLACE_BYTES, ROW_BYTES
from foveate.testing.store_corpus import EMBEDDER, change_entry, corpus

NAMES = {"embedder_name": EMBEDDER.name, "dimensions": EMBEDDER.dimensions}
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
    with closing(open_store(url, **NAMES)) as store, closing(open_store(plain, **NAMES)) as other:
        for each in (store, other):
            for entry in ENTRIES:
                entry.put(each)
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
