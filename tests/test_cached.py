"""An assembler with a cache: the same bytes, never a stale one, nothing across callers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from foveate import Assembler
from foveate.core.context_json import context_to_json
from foveate.core.types import Chunk
from foveate.pipeline.options import AssembleOptions
from foveate.ports import Cache, Store
from foveate.stores.caches import open_cache
from text_store import EMBEDDER, put, stored

QUESTIONS = ("When is the kiln fired?", "Where is the glaze?", "Who digs the clay?")


@pytest.fixture(params=["folder", "server"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, new_schema: Callable[[], str]
) -> Iterator[Store]:
    """Two pages for everyone, one for the staff."""
    url = tmp_path / "store" if request.param == "folder" else new_schema()
    texts = {
        "kiln.md": "The kiln is fired twice a month.",
        "glaze.md": "The glaze is kept in the cellar.",
    }
    with stored(url, texts) as opened:
        put(opened, "wages.md", "Who digs the clay gets forty a day.", "staff")
        yield opened


def assembler(store: Store, cache: Cache | None) -> Assembler:
    """The default plan."""
    return Assembler(
        store=store, embedder=EMBEDDER, options=AssembleOptions(budget=300), cache=cache
    )


def test_a_kept_context_is_the_same(store: Store) -> None:
    """D5, D1: from the cache or not, sync or async, every byte is the same."""
    cache = open_cache()
    plain, kept = assembler(store, None), assembler(store, cache)
    for question in QUESTIONS:
        first, second = kept.assemble(question), kept.assemble(question)
        third = asyncio.run(kept.aassemble(question))

        assert first == second == third == plain.assemble(question)
        assert context_to_json(second) == context_to_json(first)
    assert (cache.stats().hits, cache.stats().misses) == (6, 3)


def test_what_can_be_read_once_is_there_for_every_call(store: Store) -> None:
    """D5, F1: iterators among the options, with a cache too."""
    beside = Chunk(text="It has a door.", document_id="door.md", sequence=3)
    options = AssembleOptions(
        budget=300,
        messages=iter([{"role": "user", "content": "Hello."}]),
        principals=iter(["staff"]),
        neighbours=iter([beside]),
    )
    kept = replace(assembler(store, open_cache()), options=options)
    for _ in range(2):
        inputs = kept.run(QUESTIONS[2]).inputs
        assert inputs is not None
        assert (inputs.neighbours, inputs.principals) == ((beside,), ("staff",))
        assert inputs.messages == (("user", "Hello."),)


def test_a_write_is_never_followed_by_a_stale_hit(store: Store) -> None:
    """D5: after any write, in any order, the answer is that of an assembler without a cache."""
    random = Random(7)
    cache = open_cache()
    plain, kept = assembler(store, None), assembler(store, cache)
    for n in range(60):
        name = random.choice(["kiln.md", "glaze.md", "clay.md"])
        if random.random() < 0.3:
            store.delete(name)
        elif random.random() < 0.6:
            put(
                store,
                name,
                f"The {name[:-3]} was looked after {random.randrange(4)} times. {n % 3}",
            )
        put(store, "always.md", "The clay is dug in autumn.")
        question = random.choice(QUESTIONS)

        assert kept.assemble(question) == plain.assemble(question)
    assert cache.stats().hits > 0


def test_who_asks_is_in_the_key(store: Store) -> None:
    """X5, D5: what the staff was told is not told to others, nor counted as theirs."""
    cache = open_cache()
    kept = assembler(store, cache)
    told = kept.assemble("Who digs the clay?", principals=("staff",))
    others = kept.assemble("Who digs the clay?")

    assert "forty a day" in told.text
    assert "forty" not in repr(others)
    assert cache.stats().hits == 0
    assert kept.assemble("Who digs the clay?", principals=("staff", "staff")) == told
    assert cache.stats().hits == 1


@dataclass(slots=True)
class WrittenMeanwhile:
    """A store in which somebody writes between a search and what follows it."""

    store: Store
    writes: int = 0

    def __getattr__(self, name: str) -> Any:
        """Pass everything on."""
        return getattr(self.store, name)

    def search(self, *args: Any, **options: Any) -> Any:
        """Search, and then somebody writes."""
        found = self.store.search(*args, **options)
        self.writes += 1
        put(self.store, "news.md", f"The kiln is cold for the {self.writes}th time.")
        return found


def test_what_was_made_during_a_write_is_not_kept(store: Store) -> None:
    """D5: a context of a state that is gone already is handed out, and not kept."""
    cache = open_cache()
    busy = replace(assembler(store, cache), store=WrittenMeanwhile(store))
    for _ in range(3):
        busy.assemble("When is the kiln fired?")

    assert (cache.stats().hits, cache.stats().entries) == (0, 0)


def test_rubbish_in_the_cache_is_a_miss(store: Store) -> None:
    """X3: what another program wrote into a shared cache changes no answer."""

    @dataclass(slots=True)
    class Rubbish:
        cache: Cache

        def __getattr__(self, name: str) -> Any:
            return getattr(self.cache, name)

        def get(self, key: str) -> bytes:
            return b"\x93\x01rubbish"

    kept = assembler(store, Rubbish(open_cache()))  # type: ignore[arg-type]

    assert kept.assemble(QUESTIONS[0]) == assembler(store, None).assemble(QUESTIONS[0])
