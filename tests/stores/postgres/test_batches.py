from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from contextvars import copy_context
from dataclasses import replace
from threading import Thread

import psycopg
import pytest

from foveate.core.errors import BadOption
from foveate.stores.postgres.connect import connection_settings, parse_url
from foveate.stores.postgres.postings import PostingsCache
from foveate.testing.store_corpus import corpus
from store_urls import opened

ENTRIES = corpus(count=6)
TABLES = (*("audiences", "members", "documents", "chunks", "scan", "postings", "terms"),)


def test_a_batch_is_of_the_task_that_opened_it(new_schema: Callable[[], str]):
    """T5, X1: writes of tasks that a batch starts are refused whole; what is its own goes in."""

    async def put(entry) -> None:
        entry.put(store)

    async def nested() -> None:
        with store.batch():
            ENTRIES[5].put(store)

    async def read() -> list[str]:
        return [name for name, _ in store.documents()]

    async def fill() -> None:
        with store.batch():
            ENTRIES[0].put(store)
            attempts = [put(entry) for entry in ENTRIES[1:3]]
            threads = [asyncio.to_thread(ENTRIES[3].put, store)]
            done = await asyncio.gather(*attempts, *threads, nested(), return_exceptions=True)
            assert [type(each) for each in done] == [BadOption] * 4
            assert "one after another" in str(done[0])
            # Elsewhere, what is written here is not there yet; what need not be kept is not.
            elsewhere = asyncio.to_thread(store.remember, "f", {"h": 1})
            listed, _ = await asyncio.gather(read(), elsewhere)
            assert listed == []
            assert await asyncio.create_task(read()) == []
            assert [name for name, _ in store.documents()] == ["d00"]
            ENTRIES[4].put(store)
        assert await read() == ["d00", "d04"]
        assert store.counts("f", ["h"]) == {}
        await asyncio.gather(*(asyncio.to_thread(one.put, store) for one in ENTRIES[1:4]))

    with closing(opened(new_schema())) as store:
        asyncio.run(fill())
        assert store.check().findings == ()
        assert len(list(store.documents())) == 5


def test_a_batch_is_of_the_thread_that_opened_it(new_schema: Callable[[], str]):
    """T5, X1: a thread with a copy of the context writes after the batch, not inside it."""
    seen: list[object] = []

    def attempt(entry) -> None:
        try:
            entry.put(store)
        except BadOption as error:
            seen.append(error)
        seen.append([name for name, _ in store.documents()])

    def there(context, entry) -> None:
        thread = Thread(target=context.run, args=(attempt, entry))
        thread.start()
        thread.join()

    with closing(opened(f"{new_schema()}&pool=2")) as store:
        with store.batch():
            ENTRIES[0].put(store)
            context = copy_context()
            there(context, ENTRIES[1])
            assert [type(each) for each in seen] == [BadOption, list]
            assert seen[1] == []
        there(context, ENTRIES[2])
        assert seen[2:] == [["d00", "d02"]]
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
        store._context = replace(store._context, cache=PostingsCache())
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
