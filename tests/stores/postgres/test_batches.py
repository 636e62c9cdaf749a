from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest

from foveate.core.errors import ExternalError
from foveate.stores.postgres.connect import connection_settings, parse_url
from foveate.testing.store_corpus import corpus
from store_urls import opened

ENTRIES = corpus(count=6)
TABLES = (*("audiences", "members", "documents", "chunks", "scan", "postings", "terms"),)


def test_a_batch_is_of_the_thread_that_opened_it(new_schema: Callable[[], str]):
    """T5, X1: another thread reads the state before, and waits with what it writes."""
    with closing(opened(f"{new_schema()}&pool=2&wait=1")) as store, ThreadPoolExecutor(1) as other:
        with store.batch():
            ENTRIES[0].put(store)
            assert other.submit(lambda: list(store.documents())).result() == []
            with pytest.raises(ExternalError, match="another process is writing"):
                other.submit(ENTRIES[1].put, store).result()
            assert [name for name, _ in store.documents()] == ["d00"]
        other.submit(ENTRIES[2].put, store).result()
        assert [name for name, _ in store.documents()] == ["d00", "d02"]
        assert store.check().findings == ()


def found(store) -> list[str]:
    """What a search by words finds; everybody may read all of it."""
    return [c.id for c in store.search("granite lamp", None, principals=("blue", "red")).candidates]


def test_what_was_read_in_a_batch_that_was_undone_is_not_remembered(
    new_schema: Callable[[], str],
):
    """T4, T5: the same document again has the same state and other rows; both are found."""

    def undone(store) -> None:
        with store.batch():
            for entry in ENTRIES:
                entry.put(store)
            assert found(store)
            raise KeyError

    with closing(opened(new_schema())) as store:
        with pytest.raises(KeyError):
            undone(store)
        for entry in ENTRIES:
            entry.put(store)
        ours = found(store)
        assert ours
        store._context.cache.clear()
        assert found(store) == ours


def test_what_was_read_before_a_restore_is_not_remembered(new_schema: Callable[[], str]):
    """T4: rows of an older dump in their place, and the same writes again under other ids."""
    url = new_schema()
    where = parse_url(url)
    public = [entry for entry in ENTRIES if not entry.document.principals]
    hidden = next(entry for entry in ENTRIES if entry.document.principals)

    def tables(*statements: str) -> None:
        with psycopg.connect(**connection_settings(where)) as connection:
            for table in TABLES:
                for statement in statements:
                    names = {"t": f'"{where.schema}".{table}', "c": f'"{where.schema}".old_{table}'}
                    connection.execute(statement.format(**names))

    with closing(opened(url)) as store:
        tables("CREATE TABLE {c} AS TABLE {t}")
        public[0].put(store)
        before = found(store)
        assert before
        tables("TRUNCATE {t}", "INSERT INTO {t} SELECT * FROM {c}")
        hidden.put(store)
        public[0].put(store)
        assert store.delete(hidden.document.id)
        assert found(store) == before
