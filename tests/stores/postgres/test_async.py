from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing

import pytest

from foveate import Assembler
from foveate.core.errors import BadOption, ExternalError
from foveate.pipeline.options import AssembleOptions
from foveate.stores import open_async_store, open_store
from foveate.stores.caches import open_cache
from foveate.testing.store_corpus import EMBEDDER, change_entry, corpus

NAMES = {"embedder_name": EMBEDDER.name, "dimensions": EMBEDDER.dimensions}
EVERYONE = ("blue", "red")


def test_awaited_it_answers_as_the_sync_store(new_schema: Callable[[], str]):
    """T1, F1: every method of the port, awaited, gives what the sync store gives."""
    url = new_schema()
    entries = corpus(count=8)

    async def fill_and_ask() -> list[object]:
        async with await open_async_store(url, **NAMES) as store:
            for entry in entries:
                vectors = EMBEDDER.embed([chunk.text for chunk in entry.chunks])
                counts = [7] * len(entry.chunks)
                await store.put(entry.document, entry.chunks, vectors, counts, fingerprint="f1")
            assert await store.delete(entries[0].document.id)
            await store.remember("f2", {"h": 2})
            await store.compact()
            assert repr(store) == f"AsyncPostgresStore({url!r})"
            assert (await store.check()).findings == ()
            return await answers(store)

    async def answers(store) -> list[object]:
        hashes = [chunk.content_hash for chunk in entries[1].chunks]
        vector = EMBEDDER.embed(["granite"])[0]
        asked = [
            store.search("granite lamp", vector, principals=EVERYONE, where={"lang": "nl"}),
            store.neighbours([("d01", 0)], 2, principals=EVERYONE),
            store.counts("f1", hashes),
            store.document("d01", principals=EVERYONE),
            store.state_root(principals=("red",)),
            store.documents(),
            store.stats(principals=EVERYONE),
        ]
        return [await each for each in asked]

    seen = asyncio.run(fill_and_ask())
    with closing(open_store(url, create=False)) as store:
        hashes = [chunk.content_hash for chunk in entries[1].chunks]
        vector = EMBEDDER.embed(["granite"])[0]
        assert seen == [
            store.search("granite lamp", vector, principals=EVERYONE, where={"lang": "nl"}),
            store.neighbours([("d01", 0)], 2, principals=EVERYONE),
            store.counts("f1", hashes),
            store.document("d01", principals=EVERYONE),
            store.state_root(principals=("red",)),
            list(store.documents()),
            store.stats(principals=EVERYONE),
        ]


def test_an_assembler_awaits_it(new_schema: Callable[[], str]):
    """F1, D5, T1: aassemble and asearch over it, twenty at once, give the sync store's bytes."""
    url = new_schema()
    settled = AssembleOptions(recipe="document-first", budget=900)
    queries = ["granite", "cold lamp", "where does the river turn", "harbour stone"] * 5
    with closing(open_store(url, **NAMES)) as store:
        for entry in corpus(count=10):
            entry.put(store)
        plain = Assembler(store=store, embedder=EMBEDDER, options=settled)
        expected = [plain.assemble(query, principals=EVERYONE) for query in queries]
        found = plain.search("granite", principals=EVERYONE)

    async def ask() -> tuple[list[object], object]:
        async with await open_async_store(url, create=False) as opened:
            cache = open_cache()
            assembler = Assembler(store=opened, embedder=EMBEDDER, options=settled, cache=cache)
            waiting = [assembler.aassemble(query, principals=EVERYONE) for query in queries]
            contexts = await asyncio.gather(*waiting)
            again = [await assembler.aassemble(query, principals=EVERYONE) for query in queries]
            assert again == contexts
            assert cache.stats().hits >= 20
            return contexts, await assembler.asearch("granite", principals=EVERYONE)

    assert asyncio.run(ask()) == (expected, found)


def test_batches_of_tasks_take_turns(new_schema: Callable[[], str]):
    """T5: each task's batch is its own; what fails in one undoes that one alone."""
    url = new_schema()
    entries = corpus(count=6)

    async def put(store, entry) -> None:
        vectors = EMBEDDER.embed([chunk.text for chunk in entry.chunks])
        await store.put(entry.document, entry.chunks, vectors)

    async def batch(store, mine, *, fails: bool) -> None:
        async with store.batch():
            for entry in mine:
                await put(store, entry)
                await put(store, change_entry(entry))
                await put(store, entry)
            if fails:
                raise KeyError

    async def both() -> None:
        async with await open_async_store(url, **NAMES) as store:
            tasks = [
                asyncio.create_task(batch(store, entries[:3], fails=False)),
                asyncio.create_task(batch(store, entries[3:], fails=True)),
            ]
            done = await asyncio.gather(*tasks, return_exceptions=True)
            assert [type(each) for each in done] == [type(None), KeyError]
            assert [name for name, _ in await store.documents()] == ["d00", "d01", "d02"]
            assert (await store.check()).findings == ()

    asyncio.run(both())
    with closing(open_store(url, create=False)) as store:
        assert len(list(store.documents())) == 3


def test_a_cancelled_task_leaves_the_pool_usable(new_schema: Callable[[], str]):
    """F1, X3: searches and a batch that are broken off cost nothing of what comes after."""
    url = f"{new_schema()}&pool=2"
    with closing(open_store(url, **NAMES)) as store:
        for entry in corpus(count=6):
            entry.put(store)
        expected = store.search("granite lamp", None)
        root = store.state_root()

    async def break_off() -> None:
        async with await open_async_store(url, create=False) as opened:

            async def search() -> object:
                return await opened.search("granite lamp", None)

            async def batch() -> None:
                async with opened.batch():
                    await opened.delete("d00")
                    await asyncio.Event().wait()

            for _ in range(3):
                tasks = [asyncio.create_task(search()) for _ in range(6)]
                tasks.append(asyncio.create_task(batch()))
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            assert await search() == expected
            assert await opened.state_root() == root

    asyncio.run(break_off())


def test_a_write_that_is_cancelled_in_a_batch_goes_with_it(new_schema: Callable[[], str]):
    """T5: the batch is undone behind what still runs, and the next one finds nothing of it."""
    url = f"{new_schema()}&pool=1"
    entries = corpus(count=4)

    async def put(store, entry) -> None:
        vectors = EMBEDDER.embed([chunk.text for chunk in entry.chunks])
        await store.put(entry.document, entry.chunks, vectors)

    async def broken(store, begun: asyncio.Event) -> None:
        async with store.batch():
            await put(store, entries[0])
            begun.set()
            for entry in entries[1:] * 50:
                await put(store, entry)

    async def cancel() -> None:
        async with await open_async_store(url, **NAMES) as store:
            begun = asyncio.Event()
            task = asyncio.create_task(broken(store, begun))
            await asyncio.wait_for(begun.wait(), 30)
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, 30)
            assert await store.documents() == []
            async with store.batch():
                await put(store, entries[0])
            assert [name for name, _ in await store.documents()] == ["d00"]

    asyncio.run(cancel())


def test_what_cannot_be_awaited_says_so(new_schema: Callable[[], str], tmp_path):
    """X1, X3: a folder has no async store; one that is closed or not there is our error."""
    url = new_schema()

    async def closed() -> None:
        store = await open_async_store(url, **NAMES)
        await store.close()
        await store.state_root()

    with pytest.raises(BadOption, match="use open_store"):
        asyncio.run(open_async_store(str(tmp_path)))
    with pytest.raises(ExternalError, match="closed; open it again"):
        asyncio.run(closed())
    with pytest.raises(ExternalError, match="not there"):
        asyncio.run(open_async_store(f"postgresql://u@/db?host={tmp_path}"))
