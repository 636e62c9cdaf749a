from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from foveate.core.errors import BadInput, BadOption, ExternalError
from foveate.stores import open_store
from foveate.stores.sqlite import migrate, schema
from foveate.stores.sqlite.backup import backup
from foveate.stores.sqlite.check import check
from foveate.stores.sqlite.schema import StoreMigrationWarning
from foveate.stores.sqlite.store import SqliteStore
from foveate.testing.store_corpus import EMBEDDER, corpus
from older_stores import AS_SCHEMA_3

EVERYONE = ("blue", "red")


def filled(folder: Path) -> SqliteStore:
    """A store of this version with some documents."""
    store = open_store(folder, embedder_name=EMBEDDER.name, dimensions=EMBEDDER.dimensions)
    for entry in corpus(count=9):
        entry.put(store)
    return store


def made_by_schema_1(folder: Path) -> tuple[str, object]:
    """A store as schema 1 wrote it; its state root, and what a search finds in it."""
    with closing(filled(folder)) as store:
        vector = EMBEDDER.embed(["granite"])[0]
        found = store.search("granite", vector, principals=EVERYONE)
        root = store.state_root()
    with closing(sqlite3.connect(folder / "store.db", isolation_level=None)) as old:
        old.executescript(AS_SCHEMA_3)
        old.executescript("""
            BEGIN;
            CREATE TABLE before (
                id INTEGER PRIMARY KEY, principals TEXT NOT NULL UNIQUE, state BLOB NOT NULL
            );
            INSERT INTO before SELECT id, principals, state FROM audiences;
            DROP TABLE audiences;
            ALTER TABLE before RENAME TO audiences;
            PRAGMA user_version = 1;
            COMMIT""")
    return root, found


def columns(folder: Path) -> dict[str, list[tuple]]:
    """Every table's columns, as the engine describes them."""
    with closing(sqlite3.connect(folder / "store.db")) as connection:
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        return {
            name: connection.execute(f"PRAGMA table_xinfo({name})").fetchall()
            for (name,) in sorted(tables.fetchall())
        }


def test_an_older_store_is_brought_up_to_date_where_it_is_written(tmp_path: Path):
    """T5, D3: answers and state root stay; figures and checksums come; the user is told once."""
    root, found = made_by_schema_1(tmp_path / "old")

    with pytest.warns(
        StoreMigrationWarning, match="from schema 1 to 4; older versions of foveate open"
    ):
        store = open_store(tmp_path / "old", embedder_name=EMBEDDER.name, dimensions=64)
    with closing(store):
        vector = EMBEDDER.embed(["granite"])[0]
        assert store.search("granite", vector, principals=EVERYONE) == found
        assert store.state_root() == root
        figures = store.stats()
    with closing(filled(tmp_path / "new")) as new:
        expected = new.stats()

    assert (figures.documents, figures.chunks) == (expected.documents, expected.chunks)
    assert columns(tmp_path / "old") == columns(tmp_path / "new")
    assert check(tmp_path / "old").findings == ()


def test_an_older_store_that_is_only_read_is_left_alone(tmp_path: Path):
    """X1: reading says what to do, a copy first, and changes no byte."""
    made_by_schema_1(tmp_path)
    before = (tmp_path / "store.db").read_bytes()

    with pytest.raises(BadInput, match=r"has schema 1, .* reads 4; keep a copy .* store migrate"):
        open_store(tmp_path, create=False)
    with pytest.raises(BadInput, match="store migrate"):
        check(tmp_path)
    with pytest.raises(BadOption, match="holds vectors of"):
        open_store(tmp_path, embedder_name="other", dimensions=64)

    assert (tmp_path / "store.db").read_bytes() == before


def test_a_copy_of_an_older_store_is_of_that_version(tmp_path: Path):
    """T5: one can keep a copy first, and bring it up to date later."""
    root, _ = made_by_schema_1(tmp_path / "old")

    backup(tmp_path / "old", tmp_path / "copy")

    with pytest.warns(StoreMigrationWarning):
        store = open_store(tmp_path / "copy", create=False, migrate=True)
    with closing(store):
        assert store.state_root() == root
    with pytest.raises(BadInput, match="has schema 1"):
        open_store(tmp_path / "old", create=False)


def test_a_migration_that_fails_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch):
    """T5: all steps or none."""
    made_by_schema_1(tmp_path)
    broken = {**migrate.STEPS, 1: (*migrate.STEPS[1], "SELECT * FROM nowhere")}
    before = columns(tmp_path)

    with monkeypatch.context() as patch:
        patch.setattr(migrate, "STEPS", broken)
        with pytest.raises(ExternalError, match="nowhere"):
            open_store(tmp_path)
        patch.setattr(migrate, "STEPS", {})
        with pytest.raises(BadInput, match="nothing leads on from schema 1"):
            open_store(tmp_path)

    assert columns(tmp_path) == before
    with pytest.warns(StoreMigrationWarning):
        open_store(tmp_path).close()


def test_two_who_migrate_at_once_do_it_once(tmp_path: Path):
    """T5: whoever comes second finds it done."""
    made_by_schema_1(tmp_path)
    first, second = (schema.connect_existing(tmp_path, write=True) for _ in range(2))
    with closing(first), closing(second):
        assert migrate.migrate_schema(first, schema.VERSION)
        assert not migrate.migrate_schema(second, schema.VERSION)
    assert check(tmp_path).findings == ()


def test_a_program_that_was_overtaken_writes_no_more(tmp_path: Path):
    """T5: where a newer version has changed the form, an open store says so and writes nothing."""
    entry = corpus(count=10)[-1]
    with closing(filled(tmp_path)) as store:
        root = store.state_root()
        with closing(sqlite3.connect(tmp_path / "store.db")) as newer:
            newer.execute("PRAGMA user_version = 5")
        with pytest.raises(ExternalError, match="newer version of foveate has changed its form"):
            entry.put(store)
        store.remember("f", {"h": 1})
        assert store.counts("f", ["h"]) == {}
        assert store.state_root() == root
