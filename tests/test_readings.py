"""Readings that a store keeps: fetched once, believed only when intact, and nothing but speed."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from foveate import Assembler
from foveate.core.context_json import context_to_json
from foveate.core.text.profile import PROFILES
from foveate.ingest.run import ingest
from foveate.pipeline import text_analysis
from foveate.pipeline.options import AssembleOptions
from foveate.providers import tokenizers
from foveate.stores import open_store
from foveate.stores.sqlite.check import check
from foveate.stores.sqlite.store import SqliteStore
from foveate.testing.store_corpus import EMBEDDER, corpus

QUESTIONS = ("where does the cold river turn", "granite harbour lamp", "who opens the upper gate?")
PAGE = """# Weirs and locks

The weir holds the water. It was built in 1871, by Dr. Ames. You need:

- a rope of hemp, 12 mm
- no hook

| gate | year |
|------|------|
| upper | 1871 |

"""


class Plain:
    """A store of before: it knows nothing of readings."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name in ("readings", "keep"):
            raise AttributeError(name)
        return getattr(self._store, name)


class Counted:
    """A store that notes what it was asked of readings, and for how many texts."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self.asked: list[tuple[str, int]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def readings(self, version, hashes):  # noqa: D102
        self.asked.append(("readings", len(hashes)))
        return self._store.readings(version, hashes)

    def keep(self, version, found):  # noqa: D102
        self.asked.append(("keep", len(found)))
        self._store.keep(version, found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store of pages that were ingested, so that chunks overlap, and of documents put by hand."""
    (tmp_path / "pages").mkdir()
    for n in range(6):
        days = [
            f"On day {d} the upper gate {n} opens at {d + n} o'clock. It turns." for d in range(40)
        ]
        text = PAGE + " ".join(days)
        (tmp_path / "pages" / f"{n}.md").write_text(text)
    with closing(opened(tmp_path / "store")) as store:
        ingest(
            *(tmp_path / "pages", store, EMBEDDER, tokenizers.load_tokenizer("cl100k_base")),
            size=60,
            overlap=20,
        )
        for entry in corpus(count=20):
            entry.put(store)
    return tmp_path / "store"


def opened(folder: Path) -> SqliteStore:
    """The embedded store."""
    return open_store(folder, embedder_name=EMBEDDER.name, dimensions=EMBEDDER.dimensions)


def contexts(store: Any, recipe: str = "default", *, cold: bool = True) -> list[object]:
    """All that is handed out for some questions and budgets, but when it was made."""
    found = []
    for question in QUESTIONS:
        for budget in (None, 400):
            if cold:
                PROFILES.clear()
            settled = AssembleOptions(recipe=recipe, budget=budget)
            assembler = Assembler(
                store=store, embedder=EMBEDDER, options=replace(settled, limit=12)
            )
            record = context_to_json(assembler.assemble(question, principals=("red",)))
            record["manifest"].pop("created_at", None)
            found.append(record)
    return found


@pytest.mark.parametrize("recipe", ["default", "summarise", "document-first"])
def test_readings_change_nothing(folder: Path, recipe: str) -> None:
    """D1, B7: with readings and without, cold and warm, made at ingest or at first use: one."""
    with closing(opened(folder)) as store:
        expected = contexts(Plain(store), recipe)
        assert contexts(store, recipe) == expected, "some were kept at ingest"
        assert contexts(store, recipe) == expected, "all were kept by now"
        assert contexts(store, recipe, cold=False) == expected, "and are in memory"
        assert contexts(Plain(store), recipe, cold=False) == expected
    assert check(folder).findings == ()


Harm = Callable[[sqlite3.Connection], object]
HARMED: dict[str, Harm] = {
    "damaged": lambda c: c.execute("UPDATE readings SET data = substr(data, 1, 40) || x'00'"),
    "flipped": lambda c: c.execute("UPDATE readings SET data = data || x'00'"),
    "swapped": lambda c: c.execute(
        "UPDATE readings SET data = (SELECT data FROM readings AS o WHERE o.id <> readings.id)"
    ),
    "renamed": lambda c: c.execute("UPDATE readings SET version = 'reading-' || id || version"),
    "text": lambda c: c.execute("UPDATE readings SET data = 'no bytes'"),
    "gone": lambda c: c.execute("DELETE FROM readings"),
}


@pytest.mark.parametrize("harm", HARMED.values(), ids=HARMED)
def test_a_reading_that_is_not_of_the_text_is_not_believed(folder: Path, harm: Harm) -> None:
    """D1, B7, X3: damaged, of another text, of another version, or lost: read from the text."""
    with closing(opened(folder)) as store:
        expected = contexts(Plain(store))
        contexts(store)
        with closing(sqlite3.connect(folder / "store.db")) as connection, connection:
            harm(connection)
        assert contexts(store) == expected
        assert contexts(store) == expected


def test_a_damaged_reading_is_found(folder: Path) -> None:
    """T5: a check names it, and nothing else; a question for the text makes it anew."""
    with closing(opened(folder)) as store:
        contexts(store)
        hit = store.search(QUESTIONS[0], EMBEDDER.embed([QUESTIONS[0]])[0]).candidates[0].chunk
        with closing(sqlite3.connect(folder / "store.db")) as connection, connection:
            harm = "UPDATE readings SET data = x'00' || data WHERE hash = ?"
            assert connection.execute(harm, (hit.content_hash,)).rowcount == 1
        (finding,) = check(folder).findings
        assert finding.part == "readings"
        assert f"{hit.content_hash} is damaged" in finding.what
        contexts(store)
        assert check(folder).findings == ()


def test_what_is_ingested_is_read_once(folder: Path) -> None:
    """B7, T2: every chunk that ingest wrote has its reading, made in no other process again."""
    with closing(opened(folder)) as store:
        found = store.search("upper gate", None, limit=100, depth=100, principals=("red",))
        texts = [c.chunk for c in found.candidates if "pages" in c.chunk.source]
        hashes = {chunk.content_hash for chunk in texts}
        assert store.readings(text_analysis.current_version(), list(hashes)).keys() == hashes
        assert len(hashes) > 20


def test_one_round_trip_and_none_the_second_time(folder: Path) -> None:
    """B7, S5: all texts of a request at once; those known are not asked for, new ones are kept."""
    with closing(opened(folder)) as store:
        watched: Any = Counted(store)
        assembler = Assembler(store=watched, embedder=EMBEDDER, options=AssembleOptions(budget=600))
        PROFILES.clear()
        assembler.assemble(QUESTIONS[1], principals=("red",))
        (asked, many), (kept, some) = watched.asked
        assert (asked, kept) == ("readings", "keep")
        assert 0 < some <= many
        assembler.assemble(QUESTIONS[1], principals=("red",))
        assert len(watched.asked) == 2, "this process knows them"
        PROFILES.clear()
        asyncio.run(assembler.aassemble(QUESTIONS[1], principals=("red",)))
        assert watched.asked[2:] == [("readings", many)], "the store has all of them"


def test_recipes_that_weigh_no_sentences_ask_for_nothing(folder: Path) -> None:
    """B7: what would not be used is not fetched."""
    with closing(opened(folder)) as store:
        for recipe in ("citations", "naive", "document-first"):
            watched: Any = Counted(store)
            contexts(watched, recipe)
            assert watched.asked == []


def test_another_language_has_readings_of_its_own() -> None:
    """D1: sentences of another language are not those of this one, nor of another engine."""
    assert (
        text_analysis.current_version("nl")
        != text_analysis.current_version("en")
        == text_analysis.current_version()
    )
