from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from contextvars import Context, copy_context
from dataclasses import replace
from threading import Thread

import psycopg
import pytest

from foveate.core.errors import BadOption
from foveate.stores import open_async_store, open_store
from foveate.stores.postgres.connect import connection_settings, parse_url
from foveate.stores.postgres.postings import PostingsCache
from foveate.testing.store_corpus import EMBEDDER, corpus

NAMES = {"embedder_name": EMBEDDER.name, "dimensions": EMBEDDER.dimensions}
ENTRIES = corpus(count=6)
TABLES = (
    *("audiences", "members", "members_again", "documents", "outlines", "chunks", "filters"),
    *("scan", "postings", "terms"),
)


async def put(store, entry) -> None:
    """As `Entry.put`, awaited."""
    vectors = EMBEDDER.embed([chunk.text for chunk in entry.chunks])
    await store.put(entry.document, entry.chunks, vectors)


def test_a_task_that_outlives_its_batch_writes_for_itself(new_schema: Callable[[], str]):
    """T5: its write stays, though another's batch on the same connection is undone meanwhile."""
    url = f"{new_schema()}&pool=1"

    async def late(store, go: asyncio.Event) -> None:
        await go.wait()
        await put(store, ENTRIES[1])

    async def undone(store, go: asyncio.Event, task: asyncio.Task[None]) -> None:
        async with store.batch():
            await put(store, ENTRIES[2])
            go.set()
            # It cannot come to its end before this batch does; where it does, it is lost with it.
            assert await asyncio.wait({task}, timeout=0.5) == (set(), {task})
            raise KeyError

    async def both() -> list[str]:
        async with await open_async_store(url, **NAMES) as store:
            go = asyncio.Event()
            async with store.batch():
                await put(store, ENTRIES[0])
                task = asyncio.create_task(late(store, go))
            with pytest.raises(KeyError):
                await undone(store, go, task)
            await task
            assert (await store.check()).findings == ()
            return [name for name, _ in await store.documents()]

    assert asyncio.run(both()) == ["d00", "d01"]


def test_a_batch_is_of_the_task_that_opened_it(new_schema: Callable[[], str]):
    """T5, X1: writes of tasks that a batch starts are refused whole; what is its own goes in."""
    url = new_schema()

    async def fill() -> None:
        async with await open_async_store(url, **NAMES) as store:
            async with store.batch():
                await put(store, ENTRIES[0])
                attempts = [put(store, entry) for entry in ENTRIES[1:4]]
                done = await asyncio.gather(*attempts, nested(store), return_exceptions=True)
                assert [type(each) for each in done] == [BadOption] * 4
                assert "one after another" in str(done[0])
                # Elsewhere, what is written here is not there yet; what need not be kept is not.
                listed, _ = await asyncio.gather(store.documents(), store.remember("f", {"h": 1}))
                assert listed == []
                assert [name for name, _ in await store.documents()] == ["d00"]
                await put(store, ENTRIES[4])
            assert [name for name, _ in await store.documents()] == ["d00", "d04"]
            assert await store.counts("f", ["h"]) == {}
            await asyncio.gather(*(put(store, entry) for entry in ENTRIES[1:4]))
            assert (await store.check()).findings == ()
            assert len(await store.documents()) == 5

    async def nested(store) -> None:
        async with store.batch():
            await put(store, ENTRIES[5])

    asyncio.run(fill())


def test_a_task_with_a_context_of_its_own_waits_for_the_batch(new_schema: Callable[[], str]):
    """T5: started inside a batch and told nothing of it, it writes when the batch is over."""
    url = new_schema()

    async def fill() -> list[str]:
        async with await open_async_store(url, **NAMES) as store:
            async with store.batch():
                await put(store, ENTRIES[0])
                task = asyncio.create_task(put(store, ENTRIES[1]), context=Context())
            await task
            return [name for name, _ in await store.documents()]

    assert asyncio.run(fill()) == ["d00", "d01"]


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

    with closing(open_store(f"{new_schema()}&pool=2", **NAMES)) as store:
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

    with closing(open_store(new_schema(), **NAMES)) as store:
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

    with closing(open_store(url, **NAMES)) as store:
        tables("CREATE TABLE {c} AS TABLE {t}")
        public[0].put(store)
        before = found(store)
        assert before
        tables("TRUNCATE {t}", "INSERT INTO {t} SELECT * FROM {c}")
        hidden.put(store)
        public[0].put(store)
        assert store.delete(hidden.document.id)
        assert found(store) == before
