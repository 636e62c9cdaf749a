from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing

from foveate import Assembler
from foveate.pipeline.options import AssembleOptions
from foveate.stores import open_store
from foveate.stores.caches import open_cache
from foveate.testing.store_corpus import EMBEDDER, corpus

NAMES = {"embedder_name": EMBEDDER.name, "dimensions": EMBEDDER.dimensions}
EVERYONE = ("blue", "red")


def test_an_assembler_awaits_it(new_schema: Callable[[], str]):
    """F1, D5, T1: aassemble and asearch over it, twenty at once, give the sync calls' bytes."""
    settled = AssembleOptions(recipe="document-first", budget=900)
    queries = ["granite", "cold lamp", "where does the river turn", "harbour stone"] * 5
    with closing(open_store(new_schema(), **NAMES)) as store:
        for entry in corpus(count=10):
            entry.put(store)
        plain = Assembler(store=store, embedder=EMBEDDER, options=settled)
        expected = [plain.assemble(query, principals=EVERYONE) for query in queries]

        async def ask() -> object:
            cache = open_cache()
            assembler = Assembler(store=store, embedder=EMBEDDER, options=settled, cache=cache)
            waiting = [assembler.aassemble(query, principals=EVERYONE) for query in queries]
            contexts = await asyncio.gather(*waiting)
            again = [await assembler.aassemble(query, principals=EVERYONE) for query in queries]
            assert contexts == again == expected
            assert cache.stats().hits >= 20
            return await assembler.asearch("granite", principals=EVERYONE)

        assert asyncio.run(ask()) == plain.search("granite", principals=EVERYONE)


def test_a_cancelled_task_leaves_the_pool_usable(new_schema: Callable[[], str]):
    """F1, X3: searches that are broken off cost nothing of what comes after."""
    with closing(open_store(f"{new_schema()}&pool=2", **NAMES)) as store:
        for entry in corpus(count=6):
            entry.put(store)
        assembler = Assembler(store=store, embedder=EMBEDDER)
        expected = assembler.search("granite lamp")

        async def break_off() -> object:
            for _ in range(3):
                tasks = [asyncio.create_task(assembler.asearch("granite lamp")) for _ in range(6)]
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            return await assembler.asearch("granite lamp")

        assert asyncio.run(break_off()) == expected
